"""What a message asks for, as typed requests: by rules, and by a model where one is set up.

By rules: `read_message` sets times and quotations apart, `edited` and `completed` look for changes and answers to what
is open, `steps_of` cuts the rest into clauses. A clause first points back (`pointed`, `continued`) or tells news
(`told_changes`), else it is one of `Grammar.found`, whole, and passes `guarded`.
"""

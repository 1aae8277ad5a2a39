"""What six families say: scenarios with what they are about, fragments, a busy day, and chatter."""

from dataclasses import dataclass

Said = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A scenario as one family tells it.

    Attributes:
        family: Household.
        said: (when, who, what), in order.
        days: The days it is about.
        times: HH:MM.
        children: Member ids.
        activity: Activity id or generic word.
        owners: Member ids of those who take it on, in the order of the messages.
        shown: What the line in the group must contain.
        buttons: Labels.
    """

    family: str
    said: tuple[Said, ...]
    days: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    activity: str | None = None
    owners: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    buttons: tuple[str, ...] = ()


def told(family: str, *said: Said, **fields: tuple[str, ...] | str | None) -> Told:
    return Told(family=family, said=said, **fields)  # type: ignore[arg-type]  # by name


TIED_TO_ANOTHER_TIME = [
    told(
        "miller",
        ("Wed 2026-03-04 10:00", "sarah", "I'll pick up Leo from school tomorrow at 3pm and take him to soccer"),
        days=("Thu 2026-03-05",), times=("15:00",), children=("leo",), activity="soccer", owners=("sarah",),
        shown=("3pm", "4:30pm"),
    ),
    told(
        "nguyen-sato",
        ("Sun 2026-03-01 19:12", "papa", "I'll get Grace from school tomorrow at 4pm and drive her to polo"),
        days=("Mon 2026-03-02",), times=("16:00",), children=("grace",), activity="water-polo", owners=("kenji",),
        shown=("4pm", "5:30pm"),
    ),
    told(
        "iyer",
        ("Mon 2026-03-02 21:40", "amma", "I will pick up Diya from school at 3pm tomorrow and drop her at dance class"),
        days=("Tue 2026-03-03",), times=("15:00",), children=("diya",), activity="bharatanatyam", owners=("lakshmi",),
        shown=("3pm", "5:15pm"),
    ),
    told(
        "clarke",
        ("Thu 2026-03-05 08:15", "mummy", "I'll collect Zoë from school tomorrow at 15:30 and take her to gym"),
        days=("Fri 2026-03-06",), times=("15:30",), children=("zoe",), activity="gymnastics", owners=("dee",),
        shown=("15:30", "17:00"),
    ),
    told(
        "okafor-bennett",
        ("Tue 2026-03-03 20:00", "3001", "I'm picking May up at 3:15pm tomorrow and running her over to netball"),
        days=("Wed 2026-03-04",), times=("15:15",), children=("may",), activity="netball", owners=("ngozi",),
        shown=("3:15pm", "5:30pm"),
    ),
    told(
        "tremblay",
        ("Sat 2026-03-07 12:00", "pop", "I'll pick up Noémie tomorrow at 5am and take her to ringette"),
        days=("Sun 2026-03-08",), times=("05:00",), children=("noemie",), activity="ringette", owners=("rejean",),
        shown=("5am", "7:15am"),
    ),
]  # fmt: skip

TALK_OF_UPKEEP = [
    told(
        "miller", ("Wed 2026-03-04 10:00", "john", "Got the oil changed today. Next due in July.")
    ),
    told(
        "clarke",
        ("Wed 2026-03-04 18:00", "dee", "Fiesta passed its MOT this morning. Next one is in May."),
    ),
    told(
        "iyer",
        ("Wed 2026-03-04 18:00", "appa", "Got the scooter serviced today. Next service in August."),
    ),
    told(
        "nguyen-sato",
        ("Wed 2026-03-04 18:00", "ma", "Had the Sienna washed today. Oil is good until July."),
    ),
    told(
        "okafor-bennett",
        ("Wed 2026-03-04 18:00", "dad", "New tyres on the van today. Rego isn't due until June."),
    ),
    told(
        "tremblay",
        ("Wed 2026-03-04 18:00", "helene", "Furnace got cleaned today. Next time in October."),
    ),
]

ASKED_AND_TAKEN_LATER = [
    told(
        "miller",
        ("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo Thursday after soccer?"),
        ("Wed 2026-03-04 09:15", "john", "I'll do it"),
        days=("Thu 2026-03-05",), children=("leo",), activity="soccer", owners=("john",),
    ),
    told(
        "okafor-bennett",
        ("Mon 2026-03-02 08:10", "mum", "who can pick May up on Wednesday after netball?"),
        ("Mon 2026-03-02 08:25", "dad", "I'll do that"),
        days=("Wed 2026-03-04",), children=("may",), activity="netball", owners=("tom",),
    ),
    told(
        "nguyen-sato",
        ("Sat 2026-03-07 12:00", "ma", "Can anyone get Grace Tuesday after polo?"),
        ("Sat 2026-03-07 12:14", "papa", "I can do it"),
        days=("Tue 2026-03-10",), children=("grace",), activity="water-polo", owners=("kenji",),
    ),
    told(
        "iyer",
        ("Tue 2026-03-03 07:00", "appa", "Who is picking up Diya on Friday after dance class?"),
        ("Tue 2026-03-03 07:13", "paati", "I will do it"),
        days=("Fri 2026-03-06",), children=("diya",), activity="bharatanatyam", owners=("patti",),
    ),
    told(
        "clarke",
        ("Wed 2026-03-04 09:00", "sam", "Who's fetching Zoë on Friday after gymnastics?"),
        ("Wed 2026-03-04 09:15", "dee", "I've got it"),
        days=("Fri 2026-03-06",), children=("zoe",), activity="gymnastics", owners=("dee",),
    ),
    told(
        "tremblay",
        ("Mon 2026-03-09 17:30", "mémère", "Who will pick up Noémie Wednesday after ringette?"),
        ("Mon 2026-03-09 17:44", "pépère", "I'll take that one"),
        days=("Wed 2026-03-11",), children=("noemie",), activity="ringette", owners=("rejean",),
    ),
]  # fmt: skip

CLAIMED_TWICE = [
    told(
        "miller",
        ("Wed 2026-03-04 09:00", "john", "I can cover Tuesday pickup"),
        ("Wed 2026-03-04 09:15", "sarah", "I'll get the kids Tuesday after work"),
        days=("Tue 2026-03-10",), children=("leo", "mia"), owners=("john", "sarah"),
        shown=("John", "Sarah", "Tue"), buttons=("John", "Sarah", "Both"),
    ),
    told(
        "okafor-bennett",
        ("Fri 2026-03-06 08:00", "tom", "I can do Monday pickup"),
        ("Fri 2026-03-06 08:20", "ngozi", "I'll pick up the kids Monday after my shift"),
        days=("Mon 2026-03-09",), children=("will", "may", "rose", "hunter", "chidi"),
        owners=("tom", "ngozi"), shown=("Tom Bennett", "Ngozi", "Mon"),
        buttons=("Tom Bennett", "Ngozi", "Both"),
    ),
    told(
        "iyer",
        ("Mon 2026-03-02 11:00", "appa", "I can handle pickup on Wednesday"),
        ("Mon 2026-03-02 11:09", "amma", "I'll get the kids on Wednesday after office"),
        days=("Wed 2026-03-04",), children=("aarav", "diya"), owners=("raghav", "lakshmi"),
        shown=("Raghav", "Lakshmi", "Wed"), buttons=("Raghav", "Lakshmi", "Both"),
    ),
    told(
        "nguyen-sato",
        ("Sat 2026-03-07 09:00", "ma", "I can take Friday pickup"),
        ("Sat 2026-03-07 09:03", "papa", "I'll grab the kids Friday after work"),
        days=("Fri 2026-03-13",), children=("grace", "mark", "june"), owners=("linh", "kenji"),
        shown=("Linh Nguyễn", "佐藤 健二", "Fri"), buttons=("Linh Nguyễn", "佐藤 健二", "Both"),
    ),
    told(
        "clarke",
        ("Sun 2026-03-01 20:00", "dee", "I can do the pickup on Wednesday"),
        ("Sun 2026-03-01 20:30", "sam", "I'll pick Zoë up Wednesday after lunch"),
        days=("Wed 2026-03-04",), children=("zoe",), owners=("dee", "sam"),
        shown=("Deirdre Clarke", "Sam", "Wed"), buttons=("Deirdre Clarke", "Sam", "Both"),
    ),
    told(
        "tremblay",
        ("Wed 2026-03-04 19:00", "helene", "I can cover Friday pickup"),
        ("Wed 2026-03-04 19:15", "rejean", "I'll fetch the kids Friday after lunch"),
        days=("Fri 2026-03-06",), children=("noemie", "theo"), owners=("helene", "rejean"),
        shown=("Hélène", "Réjean", "Fri"), buttons=("Hélène", "Réjean", "Both"),
    ),
]  # fmt: skip

ONE_CHILD_TWO_PLACES = [
    told(
        "miller", ("Mon 2026-03-02 10:00", "sarah", "Leo has the dentist Thursday at 4pm"),
        days=("Thu 2026-03-05",), times=("16:00",), children=("leo",), activity="dentist",
        shown=("Leo", "soccer", "4:30pm", "dentist", "4pm"),
    ),
    told(
        "iyer", ("Mon 2026-03-02 10:00", "lakshmi", "Diya has a dentist appointment on Friday at 5:30pm"),
        days=("Fri 2026-03-06",), times=("17:30",), children=("diya",), activity="dentist",
        shown=("Diya", "bharatanatyam", "5:15pm", "dentist", "5:30pm"),
    ),
    told(
        "clarke", ("Tue 2026-03-03 10:00", "dee", "Zoë's got the optician Friday at 5pm"),
        days=("Fri 2026-03-06",), times=("17:00",), children=("zoe",), activity="eye doctor",
        shown=("Zoë", "gymnastics", "17:00", "eye doctor"),
    ),
    told(
        "nguyen-sato", ("Mon 2026-03-02 10:00", "linh", "Mark has the orthodontist Wednesday at 4:30"),
        days=("Wed 2026-03-04",), times=("16:30",), children=("mark",), activity="orthodontist",
        shown=("Mark", "robotics", "4pm", "orthodontist", "4:30pm"),
    ),
    told(
        "okafor-bennett", ("Sun 2026-03-01 10:00", "ngozi", "May's doctor's appointment is Wednesday 5:45pm"),
        days=("Wed 2026-03-04",), times=("17:45",), children=("may",), activity="doctor",
        shown=("May", "netball", "5:30pm", "doctor", "5:45pm"),
    ),
    told(
        "tremblay", ("Mon 2026-03-02 10:00", "rejean", "Noémie has the doctor Wednesday at 7:30am"),
        days=("Wed 2026-03-04",), times=("07:30",), children=("noemie",), activity="doctor",
        shown=("Noémie", "ringette", "7:15am", "doctor", "7:30am"),
    ),
]  # fmt: skip

WHO_THEN_ME = [
    told("miller", ("Wed 2026-03-04 10:00", "sarah", "Who's getting Leo?"), ("Wed 2026-03-04 10:01", "john", "me"), children=("leo",), owners=("john",)),
    told("clarke", ("Wed 2026-03-04 10:00", "dee", "Who's fetching Zoë?"), ("Wed 2026-03-04 10:03", "sam", "Me"), children=("zoe",), owners=("sam",)),
    told("iyer", ("Wed 2026-03-04 10:00", "patti", "who is picking up aarav?"), ("Wed 2026-03-04 10:02", "thatha", "me!"), children=("aarav",), owners=("thatha",)),
    told("nguyen-sato", ("Wed 2026-03-04 10:00", "ma", "who's grabbing June"), ("Wed 2026-03-04 10:02", "kenji", "i am"), children=("june",), owners=("kenji",)),
    told("okafor-bennett", ("Wed 2026-03-04 10:00", "tom", "Who's getting Rosie?"), ("Wed 2026-03-04 10:04", "priya", "I can"), children=("rose",), owners=("priya",)),
    told("tremblay", ("Wed 2026-03-04 10:00", "pop", "Who gets Théo?"), ("Wed 2026-03-04 10:01", "helene", "me 🙋‍♀️"), children=("theo",), owners=("helene",)),
]  # fmt: skip

ASKED_TAKEN_THANKED = [
    told(
        "miller", ("Wed 2026-03-04 10:00", "sarah", "Soccer pickup Thursday?"),
        ("Wed 2026-03-04 10:01", "john", "I'll do it"), ("Wed 2026-03-04 10:02", "sarah", "thx"),
        days=("Thu 2026-03-05",), activity="soccer", owners=("john",),
    ),
    told(
        "clarke", ("Wed 2026-03-04 10:00", "dee", "Gymnastics pick-up Friday?"),
        ("Wed 2026-03-04 10:02", "sam", "I can do it"), ("Wed 2026-03-04 10:03", "dee", "ty!"),
        days=("Fri 2026-03-06",), activity="gymnastics", owners=("sam",),
    ),
    told(
        "iyer", ("Wed 2026-03-04 10:00", "amma", "Cricket drop on Saturday?"),
        ("Wed 2026-03-04 10:04", "appa", "I'll take it"), ("Wed 2026-03-04 10:05", "amma", "thanks 🙏"),
        days=("Sat 2026-03-07",), activity="cricket", owners=("raghav",),
    ),
    told(
        "okafor-bennett", ("Mon 2026-03-02 10:00", "ngozi", "Netball pickup Wednesday?"),
        ("Mon 2026-03-02 10:04", "tom", "on it"), ("Mon 2026-03-02 10:05", "ngozi", "cheers"),
        days=("Wed 2026-03-04",), activity="netball", owners=("tom",),
    ),
]  # fmt: skip

STATED_TAKEN_ACKNOWLEDGED = [
    told(
        "miller", ("Wed 2026-03-04 10:00", "sarah", "Mia ballet Monday"),
        ("Wed 2026-03-04 10:01", "john", "I'll cover"), ("Wed 2026-03-04 10:02", "sarah", "👍"),
        days=("Mon 2026-03-09",), children=("mia",), activity="ballet", owners=("john",),
    ),
    told(
        "iyer", ("Mon 2026-03-02 10:00", "amma", "Diya dance class Friday"),
        ("Mon 2026-03-02 10:01", "appa", "I'll cover it"), ("Mon 2026-03-02 10:02", "amma", "👌"),
        days=("Fri 2026-03-06",), children=("diya",), activity="bharatanatyam", owners=("raghav",),
    ),
    told(
        "nguyen-sato", ("Mon 2026-03-02 10:00", "ma", "June taiko Friday"),
        ("Mon 2026-03-02 10:02", "papa", "I'll take her"), ("Mon 2026-03-02 10:03", "ma", "👍🏽"),
        days=("Fri 2026-03-06",), children=("june",), activity="taiko", owners=("kenji",),
    ),
    told(
        "okafor-bennett", ("Mon 2026-03-02 10:00", "tom", "May netball Wednesday"),
        ("Mon 2026-03-02 10:02", "mum", "I've got that"), ("Mon 2026-03-02 10:03", "tom", "❤️"),
        days=("Wed 2026-03-04",), children=("may",), activity="netball", owners=("ngozi",),
    ),
]  # fmt: skip

SHARED_OUT = [
    told(
        "miller", ("Wed 2026-03-04 10:00", "sarah", "Both kids Tuesday"),
        ("Wed 2026-03-04 10:01", "john", "I got Leo"), ("Wed 2026-03-04 10:02", "sarah", "I got Mia"),
        days=("Tue 2026-03-10",), children=("leo", "mia"), owners=("john", "sarah"),
    ),
    told(
        "tremblay", ("Wed 2026-03-04 10:00", "helene", "Both kids Friday"),
        ("Wed 2026-03-04 10:01", "rejean", "I've got Théo"), ("Wed 2026-03-04 10:02", "helene", "I've got Noémie"),
        days=("Fri 2026-03-06",), children=("theo", "noemie"), owners=("rejean", "helene"),
    ),
    told(
        "iyer", ("Mon 2026-03-02 10:00", "amma", "both kids on Wednesday"),
        ("Mon 2026-03-02 10:01", "thatha", "I'll get aarav"), ("Mon 2026-03-02 10:03", "patti", "I got Diya"),
        days=("Wed 2026-03-04",), children=("aarav", "diya"), owners=("thatha", "patti"),
    ),
]  # fmt: skip

EVERY_TELLING = [
    *TIED_TO_ANOTHER_TIME,
    *TALK_OF_UPKEEP,
    *ASKED_AND_TAKEN_LATER,
    *CLAIMED_TWICE,
    *ONE_CHILD_TWO_PLACES,
    *WHO_THEN_ME,
    *ASKED_TAKEN_THANKED,
    *STATED_TAKEN_ACKNOWLEDGED,
    *SHARED_OUT,
]


# Fragments: what tier 1 makes of a few words. Each stands alone unless it is said in a thread.

ALONE = {
    "miller": {
        "socer tmrw 4": "QUEUE", "wk pickup": "QUEUE", "pratice is cancled": "QUEUE", "thx!": "DROP",
        "Mia has bailt monday": "QUEUE", "u sure?": "DROP", "kk": "DROP", "Leo dentist 2mrw??": "QUEUE",
        "n/m": "DROP", "omw": "QUEUE",
    },
    "clarke": {
        "gymnastcs tmrw 5": "QUEUE", "fri pick up": "QUEUE", "lesson is canceled": "QUEUE", "cheers!": "DROP",
        "Zoë has browneis monday": "QUEUE", "really?": "DROP", "okay": "DROP", "zoe optician 2moro??": "QUEUE",
        "nvm": "DROP", "on my way": "QUEUE",
    },
    "iyer": {
        "criket tmrw 630": "QUEUE", "thurs pickup": "QUEUE", "tution is cancelled": "QUEUE", "thank you 🙏": "DROP",
        "Diya has danse class friday": "QUEUE", "is it?": "DROP", "ok ok": "DROP", "Aarav doctor 2mrw?": "QUEUE",
        "never mind": "DROP", "omw now": "QUEUE",
    },
    "nguyen-sato": {
        "robotcs tmrw 4": "QUEUE", "wed pickup": "QUEUE", "pracitce is cancled": "QUEUE", "tysm": "DROP",
        "June has taikp friday": "QUEUE", "for real?": "DROP", "k": "DROP", "Mark dentist tmrw??": "QUEUE",
        "nm": "DROP", "omw 🚗": "QUEUE",
    },
    "okafor-bennett": {
        "netbal 2moro 5": "QUEUE", "mon pickup": "QUEUE", "trainng is cancelled": "QUEUE", "ta!": "DROP",
        "May has netbal wednesday": "QUEUE", "u serious?": "DROP", "righto": "DROP", "Rosie dentist tmrw?": "QUEUE",
        "nevermind": "DROP", "On my way!": "QUEUE",
    },
    "tremblay": {
        "ringete tmrw 7": "QUEUE", "fri dropoff": "QUEUE", "pratice canceled": "QUEUE", "thanks!!": "DROP",
        "Noémie has ringett sunday": "QUEUE", "seriously?": "DROP", "kk": "DROP", "Théo dentist 2morrow??": "QUEUE",
        "n/m": "DROP", "omw": "QUEUE",
    },
}  # fmt: skip

ADULTS = {
    "miller": ("sarah", "john"),
    "clarke": ("dee", "sam"),
    "iyer": ("lakshmi", "raghav"),
    "nguyen-sato": ("linh", "kenji"),
    "okafor-bennett": ("ngozi", "tom"),
    "tremblay": ("helene", "rejean"),
}

# (request, what the other says to it)
IN_A_THREAD = {
    "miller": [
        ("Can you get Leo tomorrow?", "yeah 3pm"), ("Who can take Mia on Friday?", "i'll do it"),
        ("Does 4 or 4:30 suit you for Leo's pickup?", "4:30 work for me"), ("Can you take Mia at 5?", "kk"),
    ],
    "clarke": [
        ("Can you fetch Zoë tomorrow?", "yep 3pm"), ("Who can take Zoë on Thursday?", "I'll do that"),
        ("Is 5 or half 5 better for collecting Zoë?", "half 5 works for me"), ("Could you take Zoë at 5?", "okay"),
    ],
    "iyer": [
        ("Can you pick up aarav tomorrow?", "yes 4pm"), ("Who will drop Diya on Friday?", "i will do it"),
        ("Is 6 or 6:30 ok for Aarav's pickup?", "6:30 is fine for me"), ("Can you bring Diya at 7?", "ok"),
    ],
    "nguyen-sato": [
        ("Can you grab June tomorrow?", "yup 3:15"), ("Who can drive Mark on Friday?", "ill do it"),
        ("Pickup for Grace at 6 or 6:30?", "6:30 works"), ("can you get June at 5?", "k"),
    ],
    "okafor-bennett": [
        ("Can you collect Hunter tomorrow?", "yeah 3"), ("Who can take May on Friday?", "I'll do it"),
        ("Is 4 or 4:15 better to pick up Rose?", "4:15 works for me"), ("Can you get Rosie at 5?", "sure thing"),
    ],
    "tremblay": [
        ("Can you pick up Théo tomorrow?", "yes 3pm"), ("Who can take Noémie on Friday?", "I'll do it"),
        ("7 or 7:30 for picking up Noémie?", "7:30 works for me"), ("Can you get Théo at 5?", "okay"),
    ],
}  # fmt: skip

HANDS = ("🙋‍♀️", "🙋", "🙋🏽‍♂️", "✋", "🙋🏿‍♀️", "🙋‍♂️")

# A day of one family that sets everything in motion: claims, questions, answers, conflicts, changes.
BUSY_DAY = [
    ("Mon 2026-03-02 07:30", "sarah", "Leo has the dentist Thursday at 4pm"),
    ("Mon 2026-03-02 08:00", "john", "Who's picking up Leo tomorrow after soccer?"),
    ("Mon 2026-03-02 08:03", "sarah", "I'll do it"),
    ("Mon 2026-03-02 09:00", "sarah", "Mia's ballet on Wednesday is cancelled"),
    ("Mon 2026-03-02 10:00", "john", "I can cover Friday pickup"),
    ("Mon 2026-03-02 10:30", "sarah", "I'll get the kids Friday after work"),
    ("Mon 2026-03-02 12:00", "sarah", "Mia has a recital Saturday at 2pm"),
    ("Mon 2026-03-02 13:00", "john", "Soccer on Tuesday is moved to Friday at 5pm"),
    ("Mon 2026-03-02 14:00", "john", "Can you get Mia at 5?"),
    ("Mon 2026-03-02 20:00", "sarah", "No soccer next week, the coach is away"),
]

CHATTER = [
    "lol", "hahaha", "omg that video 😂", "love you guys ❤️", "good morning!", "night night", "what a game last night",
    "I'm so tired", "the neighbours are loud again", "did you see the news", "happy birthday!! 🎂", "yum",
    "look at this sunset", "can't believe it's raining again", "the wifi is slow", "this song is stuck in my head",
    "who ate the last cookie 😤", "best pizza ever", "I need coffee", "haha same", "aww so cute", "that's hilarious",
    "traffic was terrible", "my back hurts", "just finished my book", "the cat is on the roof again",
    "new season is out on netflix", "that meeting went on forever", "wow", "nice one", "so proud of you",
    "guess what the dog did", "the printer is broken", "my phone died", "it's freezing in here", "miss you",
    "who's watching this show?", "what's the wifi password", "I can't find my keys", "anyone seen my charger?",
    "we should repaint the kitchen someday", "that restaurant was overpriced", "the soup turned out great",
    "grandpa sent the funniest meme", "remember that trip to the lake?", "he's such a goofball", "mine too",
    "I got a parking ticket 🙄", "the garden looks lovely", "what a week", "can you believe this price",
    "my boss is being weird", "ok boomer", "that's not how it works lol", "🤣🤣🤣", "yes!!", "hmm", "good point",
    "I made too much pasta", "the plumber was nice",
]  # fmt: skip

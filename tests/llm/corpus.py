# SPDX-License-Identifier: BSD-3-Clause
"""Texts that make tokenizers differ: many scripts, code, emoji, odd white space. The same ones on every run."""
import random

# The first sentences of the Universal Declaration of Human Rights, by script.
SENTENCES = {
    "Latin": [
        "All human beings are born free and equal in dignity and rights. They're endowed with reason and conscience.",
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Größe, Straße, ÜBERMUT!",
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. L'œuvre d'aujourd'hui, c'est ça.",
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos. ¿Qué? ¡Señor!",
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İSTANBUL'da ışık.",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
        "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt.",
        "Gbogbo ènìyàn ni a bí ní òmìnira; iyì àti ẹ̀tọ́ kọ̀ọ̀kan sì dọ́gba.",
    ],
    "Cyrillic": ["Все люди рождаются свободными и равными в своем достоинстве и правах.",
                 "Всі люди народжуються вільними і рівними у своїй гідності та правах. Ґанок, її."],
    "Greek": ["Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ΣΟΦΟΣ σοφός"],
    "Armenian": ["Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։"],
    "Georgian": ["ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით."],
    "Hebrew": ["כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. בְּרֵאשִׁית"],
    "Arabic": ["يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. ١٢٣٤٥ مَرْحَبًا",
               "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند."],
    "Devanagari": ["सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। १२३"],
    "Bengali": ["সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।"],
    "Gurmukhi": ["ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ, ਸ਼ਾਨ ਅਤੇ ਹੱਕਾਂ ਦੇ ਪੱਖੋਂ ਜਨਮ ਤੋਂ ਹੀ ਆਜ਼ਾਦ ਹੈ।"],
    "Gujarati": ["પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે."],
    "Tamil": ["மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்."],
    "Telugu": ["ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు."],
    "Kannada": ["ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ. ಹಾಗೂ ಘನತೆ ಮತ್ತು ಹಕ್ಕುಗಳಲ್ಲಿ ಸಮಾನರಾಗಿದ್ದಾರೆ."],
    "Malayalam": ["മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും അന്തസ്സോടും സ്വാതന്ത്ര്യത്തോടുംകൂടി ജനിച്ചിട്ടുള്ളവരാണ്‌."],
    "Sinhala": ["සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත. ගරුත්වයෙන් හා අයිතිවාසිකම්වලින් සමාන වෙති."],
    "Thai": ["มนุษย์ทั้งปวงเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ๑๒๓"],
    "Lao": ["ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ, ສິດທິ, ເສລີພາບ ແລະ ຄວາມສະເໝີພາບເທົ່າທຽມກັນ."],
    "Khmer": ["មនុស្សទាំងអស់កើតមកមានសេរីភាព និងភាពស្មើៗគ្នាក្នុងសេចក្ដីថ្លៃថ្នូរ និងសិទ្ធិ។"],
    "Myanmar": ["လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။"],
    "Tibetan": ["འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ཐོབ་ཐངགི་རང་དབང་འདྲ་མཉམ་དུ་ཡོད་ལ།"],
    "Ethiopic": ["የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው።"],
    "Hangul": ["모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 각각 한국어"],
    "Japanese": ["すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。カタカナ ﾊﾝｶｸ ２０２４年"],
    "Han": ["人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
            "人人生而自由，在尊嚴和權利上一律平等。𠀀𠮷𪚥"],
    "Mongolian": ["Хүн бүр төрж мэндлэхэд эрх чөлөөтэй ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ ᠮᠡᠨᠳᠡᠯᠡᠬᠦ"],
    "Cherokee": ["ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ᎤᎾᏕᎿ ᏚᏳᎧᏛ ᎨᏒᎢ. ꮒꭶꮣ"],
    "Canadian": ["ᐃᓅᔪᓕᒫᑦ ᐊᓂᖅᑎᕆᔪᓐᓇᖅᖢᑎᒃ ᐃᓅᓕᕋᑎᒃ ᐃᓱᒪᒃᑯᑦ ᐊᒻᒪᓗ ᐊᔾᔨᐅᓪᓗᑎᒃ"],
    "Mathematics": ["∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, ∑ᵢ₌₁ⁿ i² ≈ ½·n³, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒎𝒂𝒕𝒉, ﬁ ﬂ ﬃ, Ⅷ ⅷ ①②③, ㎏ ㏒, x⁻¹"],
}
CODE = [
    "def {a}({b}: int = {n}) -> list[str]:\n    return [f\"{{{b}!r}}\" for _ in range({b})]  # it's\n",
    "for (int {a} = 0; {a} < {n}; ++{a}) {{\r\n\t\t{b}[{a}] ^= 0x{n:X}u;\r\n}}",
    "const {a} = async ({{ {b}, ...rest }}) => (await fetch(`/api/${{{b}}}?q={n}`))?.json();",
    "SELECT {a}.*, COUNT(*) FROM `{b}` AS {a} WHERE id >= {n} AND name LIKE '%it''s%';",
    "<div class=\"{a} {b}\" data-n='{n}'>&nbsp;&#x{n:x};</div><!-- {a} -->",
    "fn {a}<'a, T: Into<{b}>>(x: &'a mut T) -> Result<u{n}, Box<dyn Error>> {{ Ok(x?.into()) }}",
    "#!/bin/sh\nset -e; {a}=$(grep -rn \"{b}\" ./src | awk '{{print $1}}') && echo \"${{{a}%.*}}\" >> /dev/null 2>&1",
    "{{\"{a}\": [{n}, -{n}.5e-10, null, true], \"{b}\": {{\"nested\": \"\\u00e9\\n\"}}}}",
    "template <class... Ts>\n  requires(sizeof...(Ts) > {n})\nauto {a}(Ts&&... xs) {{ return (std::forward<Ts>(xs) + ...); }}",
    "{a}_{b}::{a}->{b}.{a}({n}, \"%s\\t%d\\n\", &{b}[{n}]);  // https://example.org/{a}?{b}={n}#top",
]
NAMES = "x i foo myVariable snake_case_name HTTPServer2 __init__ getElementById ΔT größe naïve 变量 kMax_VALUE".split()
EMOJI = ("😀 😂 🥲 ❤️ ❤ 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🏴‍☠️ 🇩🇪🇫🇷 🇯🇵 1️⃣ #️⃣ 👩🏾‍🚀 🧑‍💻 🤷🏻‍♂️ ☺️ ☺ ✈︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🫠 🪿 👁️‍🗨️ ©️ ™").split()
SPACES = [" ", " ", " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\v", "\f", "\x85", "\xa0", "\u1680", "\u2003", "\u200a",
          "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", "\ufeff", "\u180e", "\x1c", "\x1f"]
DIGITS = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９", "²³¹⁰⁴⁵", "½¼¾⅓", "ⅠⅡⅢⅣ", "一二三四五", "𝟘𝟙𝟚𝟛", "𑁦𑁧𑁨"]
LOOK_ALIKES = ["<|im_start|>", "<|im_end|>", "<|im_start", "|im_end|>", "<|endoftext|>", "<s>", "</s>", "<s", "<unk>", "<pad>",
               "<0x0A>", "<0xE2>", "▁", "▁▁", "Ġ", "Ċ", "<|begin_of_text|>", "<|eot_id|>", "<|reserved_special_token_5|>",
               "<tool_call>", "[INST]", "[/INST]", "<bos>", "<start_of_turn>", "<USER>", "�", "<|>", "<||>"]
MARKS = [chr(c) for c in (*range(0x300, 0x345), 0x345, 0x34F, 0x483, 0x5B0, 0x5BC, 0x64B, 0x651, 0x93C, 0x94D, 0xE38, 0x20DD, 0x3099,
                          0x309A, 0xFE0F, 0x1D165, 0x1DF6)]
CONTRACTIONS = ["it's", "IT'S", "don't", "DON'T", "we'll", "We'LL", "I'd", "they've", "THEY'VE", "'re", "'Tis", "’s", "'ſ", "o'clock",
                "rock'n'roll", "''s", "' s", "l'été", "x'y'z"]


def words(rng, script):
    return rng.choice(SENTENCES[script]).split(" ")


def prose(rng):
    script = rng.choice(list(SENTENCES))
    chosen = words(rng, script)
    start = rng.randrange(len(chosen))
    text = " ".join(chosen[start : start + rng.randint(1, 12)])
    return rng.choice([str, str.upper, str.title, str.lower])(text) if rng.random() < 0.3 else text


def mixed(rng):
    parts = [rng.choice(words(rng, rng.choice(list(SENTENCES)))) for _ in range(rng.randint(2, 8))]
    return "".join(p + rng.choice(["", " ", rng.choice(SPACES), rng.choice("-,.;:!?'\"()/")]) for p in parts)


def code(rng):
    return rng.choice(CODE).format(a=rng.choice(NAMES), b=rng.choice(NAMES), n=rng.choice([0, 7, 42, 255, 1000, 65536, 2**31]))


def emoji(rng):
    return "".join(rng.choice(EMOJI) + rng.choice(["", "", " ", "!", "a"]) for _ in range(rng.randint(1, 6)))


def white_space(rng):
    return "".join(rng.choice(SPACES) * rng.choice([1, 1, 2, 5, 17]) + rng.choice(["", "a", "B", "1", "!", "é"]) for _ in range(rng.randint(1, 8)))


def numbers(rng):
    runs = ["".join(rng.choice(rng.choice(DIGITS)) for _ in range(rng.randint(1, 5))) if rng.random() < 0.5
            else "".join(rng.choice("0123456789") for _ in range(rng.choice([1, 2, 3, 4, 6, 7, 30, 200]))) for _ in range(rng.randint(1, 4))]
    return rng.choice([" ", "", ".", ",", "-", "e", "x"]).join(runs)


def marks(rng):
    return "".join(rng.choice("aeiouAEOçñöåÅ가각각कخあ ") + "".join(rng.choice(MARKS) for _ in range(rng.choice([0, 1, 1, 2, 4])))
                   for _ in range(rng.randint(1, 12)))


def look_alikes(rng):
    return "".join(rng.choice(LOOK_ALIKES) + rng.choice(["", "", " ", "  ", "a", "\n", "user\n"]) for _ in range(rng.randint(1, 5)))


def controls(rng):
    return "".join(chr(rng.choice([*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x200C, 0x200D, 0x200E, 0x2066, 0xFFFC, 0xE0041]))
                   + rng.choice(["", "a", " "]) for _ in range(rng.randint(1, 10)))


def anything(rng):
    planes = [(0x20, 0x7F), (0x20, 0x7F), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x20000), (0x20000, 0x110000)]
    return "".join(chr(rng.randrange(*rng.choice(planes))) for _ in range(rng.randint(1, 20)))


def contractions(rng):
    return "".join(rng.choice(CONTRACTIONS) + rng.choice([" ", "", ".", "\n"]) for _ in range(rng.randint(1, 6)))


def repeats(rng):
    return rng.choice(["a", "ab", " ", "\n", "-", "=", "ha", "🙂", "の", "\t", "<|", "aB", "\u0301", "1", ".\n"]) * rng.choice([2, 3, 7, 33, 150])


KINDS = [prose, prose, mixed, code, emoji, white_space, numbers, marks, look_alikes, controls, anything, contractions, repeats]


def used_codes():
    """Code points of the planes that are in use."""
    return [c for c in (*range(0x33480), *range(0xE0000, 0xE01F0)) if not 0xD800 <= c <= 0xDFFF]


def every_character():
    """Each of them, between letters and alone."""
    used = used_codes()
    for start in range(0, len(used), 64):
        yield "".join(f"a{chr(c)} {chr(c)}" for c in used[start : start + 64])


def corpus(lines=10_000, seed=1):
    rng = random.Random(seed)
    out = ["", " ", "  ", "a", "\n"] + [s for sentences in SENTENCES.values() for s in sentences]
    while len(out) < lines:
        text = rng.choice(KINDS)(rng)
        if rng.random() < 0.2:
            text = rng.choice([" ", "\n", "\t", "  "]) + text
        if rng.random() < 0.2:
            text += rng.choice([" ", "\n", "\r\n", "  "])
        out.append(text)
    return out

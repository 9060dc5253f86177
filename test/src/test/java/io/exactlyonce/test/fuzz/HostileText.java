package io.exactlyonce.test.fuzz;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Text that a system may refuse, or may confuse with another text. */
public final class HostileText {

    /** Marks senders' text. No log or other output may contain this mark. */
    public static final String SECRET = "4111-1111-1111";

    /** The beginning of a line that no log may contain. */
    public static final String FORGED = "FORGED 2031-01-01 INFO all is well";

    private static final int BOUNDARY = 512;

    private static final List<String> PARTS = List.of(
            // visible and invisible blanks, and byte order marks
            " ",
            "\t",
            "\r\n",
            "\u00A0",
            "\u2003",
            "\u200B",
            "\uFEFF",
            // characters that move a cursor, begin a line, or change the direction of text
            "\u001B[2J",
            "\u0007",
            "\u0085",
            "\u2028",
            "\n" + FORGED,
            "\u202E",
            "\u2066",
            // characters that are invalid, or that many systems refuse
            "\0",
            "\uD83D",
            "\uDCE6",
            "\uDCE6\uD83D",
            "\uFFFE",
            "\uFFFF",
            // one text in two encodings, and two texts that look alike
            "\u00E9",
            "e\u0301",
            "\u212B",
            "\u00C5",
            "\uFB01",
            "\u1E9E",
            "\u00DF",
            "\u0130",
            "\u0131",
            "i",
            "I",
            "o1",
            "O1",
            "\u043E1",
            // other directions and other planes
            "\u05D0\u05D1",
            "\u0627\u0644",
            "\u6C34",
            "\uD83D\uDCE6",
            "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67",
            "\uDBFF\uDFFD",
            // text with a special meaning in some language
            "'",
            "\"",
            "\\",
            "{}",
            "%s%n",
            "${user.home}",
            "#{1+1}",
            "T(java.lang.Runtime)",
            "'; DROP TABLE exactly_once_claim; --",
            "NULL",
            "/",
            "#",
            ",",
            SECRET);

    private static final List<String> PADS = List.of("x", "\u00E9", "\u6C34", "\uD83D\uDCE6");

    private static final List<ToIntFunction<String>> SIZES = List.of(
            String::length,
            text -> text.codePointCount(0, text.length()),
            text -> text.getBytes(StandardCharsets.UTF_8).length);

    private static final List<UnaryOperator<String>> VARIANTS = List.of(
            text -> text + " ",
            text -> " " + text,
            text -> text + "\u0000",
            text -> text.toUpperCase(Locale.ROOT),
            text -> text.toLowerCase(Locale.ROOT),
            text -> Normalizer.normalize(text, Normalizer.Form.NFC),
            text -> Normalizer.normalize(text, Normalizer.Form.NFD),
            text -> Normalizer.normalize(text, Normalizer.Form.NFKC),
            String::strip);

    private HostileText() {}

    /** Returns texts, some of which are nearly equal. */
    public static List<String> several(RandomGenerator random, int count) {
        List<String> texts = new ArrayList<>();
        while (texts.size() < count) {
            texts.add(
                    texts.isEmpty() || random.nextInt(3) > 0
                            ? any(random)
                            : pick(random, VARIANTS).apply(pick(random, texts)));
        }
        return texts;
    }

    /** Returns any text. */
    public static String any(RandomGenerator random) {
        return switch (random.nextInt(10)) {
            case 0, 1 -> atBoundary(random);
            case 2 -> incompressible(random, random.nextInt(2 * BOUNDARY));
            case 3 -> units(random, random.nextInt(12));
            case 4 -> pick(random, PARTS).repeat(1 + random.nextInt(600));
            default -> parts(random);
        };
    }

    private static String parts(RandomGenerator random) {
        return Stream.generate(() -> pick(random, PARTS))
                .limit(random.nextInt(5))
                .collect(Collectors.joining());
    }

    /** Returns a text whose length is within two of the limit, counted in UTF-16 units, characters or bytes. */
    private static String atBoundary(RandomGenerator random) {
        ToIntFunction<String> size = pick(random, SIZES);
        int wanted = BOUNDARY - 2 + random.nextInt(5);
        String pad = pick(random, PADS);
        StringBuilder text = new StringBuilder(random.nextBoolean() ? pick(random, PARTS) : "");
        while (size.applyAsInt(text.toString()) + size.applyAsInt(pad) <= wanted) {
            text.append(pad);
        }
        while (size.applyAsInt(text.toString()) < wanted) {
            text.append('x');
        }
        return text.toString();
    }

    /** Draws characters of three bytes each, in a random order that an index cannot compress. */
    private static String incompressible(RandomGenerator random, int characters) {
        return random.ints(characters, 0x4E00, 0x9FFF)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static String units(RandomGenerator random, int count) {
        return random.ints(count, 0, Character.MAX_VALUE + 1)
                .mapToObj(unit -> String.valueOf((char) unit))
                .collect(Collectors.joining());
    }

    /** Returns a random element of a list. */
    public static <T> T pick(RandomGenerator random, List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Returns a text for a failure's message: in ASCII, and shortened. */
    public static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        text.chars()
                .limit(60)
                .forEach(unit -> shown.append(
                        unit >= ' ' && unit < 0x7F && unit != '\\' ? (char) unit : "<%x>".formatted(unit)));
        return text.length() > 60 ? "%s... (%d units)".formatted(shown, text.length()) : shown.toString();
    }
}

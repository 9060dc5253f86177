package io.exactlyonce.fingerprint;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.listener.HostileMessages;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContentTests {

    private static final String ORDER =
            "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}";

    private static String body(String body) {
        return Content.ofBody(body).fingerprint();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"orderId\":\"A-1\",\"customer\":{\"name\":\"J\",\"city\":\"Orl\u00e9ans\"},\"amount\":12.50}",
                "{\"amount\":12.50, \"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                "{\n  \"amount\" : 12.50,\r\n\t\"customer\" : { \"city\" : \"Orl\u00e9ans\", \"name\" : \"J\" },\n  \"orderId\" : \"A-1\"\n}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\\u00E9ans\",\"n\\u0061me\":\"J\"},\"orderId\":\"A-1\"}",
                "\uFEFF{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                " {\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}\r\n"
            })
    void oneOrderInAnotherLayoutIsTheSameContent(String same) {
        assertThat(body(same)).isEqualTo(body(ORDER)).isEqualTo(ClaimKey.sha256(ORDER));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"amount\":12.5,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                "{\"amount\":\"12.50\",\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orle\u0301ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\"},\"name\":\"J\",\"orderId\":\"A-1\"}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\",\"x\":null}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1 \"}",
                "[{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}]",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\",}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"} {}",
                "{\"amount\":12.50,\"customer\":{\"city\":\"Orl\u00e9ans\",\"name\":\"J\"},\"orderId\":\"A-1\"}}"
            })
    void anotherValueIsAnotherContent(String other) {
        assertThat(body(other)).isNotEqualTo(body(ORDER));
    }

    /**
     * Returns pairs of different contents. A careless comparison would find both equal: it would sort fields, resolve
     * escapes or drop white space.
     */
    static List<List<String>> different() {
        return List.of(
                List.of("{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}"),
                List.of("{\"a\":[1,2]}", "{\"a\":[2,1]}"),
                List.of("[1 2]", "[12]"),
                List.of("[1,[2]]", "[[1],2]"),
                List.of("{}", "[]"),
                List.of("{}", "{\"\":{}}"),
                List.of("[[]]", "[{}]"),
                List.of("[1]", "[1.0]"),
                List.of("[1e2]", "[1E2]"),
                List.of("[0]", "[-0]"),
                List.of("[null]", "[\"null\"]"),
                List.of("[1]", "[\"1\"]"),
                List.of("[true]", "[false]"),
                List.of("{\"a,b\":1}", "{\"a\":1,\"b\":1}"),
                List.of("[\"a\\\",\\\"b\"]", "[\"a\",\"b\"]"),
                List.of("[\"\\\\u0061\"]", "[\"a\"]"),
                List.of("[\"\\n\"]", "[\"\n\"]"),
                List.of("[\"\\ud83d\"]", "[\"?\"]"),
                List.of("[\"\\ud83d\"]", "[\"\\udce6\"]"),
                List.of("[\"\\ud83d\\udce6\"]", "[\"\\udce6\\ud83d\"]"),
                List.of("[\"\uffff\"]", "[\"?\"]"),
                List.of("{\"json\":\"{\\\"a\\\":1}\"}", "{\"json\":\"{\\\"a\\\": 1}\"}"),
                List.of("{\"json\":\"{\\\"a\\\":1}\"}", "{\"json\":{\"a\":1}}"),
                List.of("\"A-1\"", "A-1"),
                List.of("42", "\"42\""),
                List.of("a\ud83d", "a?"),
                List.of("\n", " "),
                List.of("A-1\n\n", "A-1"),
                List.of(" A-1", "A-1"));
    }

    @ParameterizedTest
    @MethodSource("different")
    void contentsThatDifferHaveDifferentFingerprints(List<String> two) {
        assertThat(body(two.get(0))).isNotEqualTo(body(two.get(1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"A-1\n", "A-1\r\n", "\uFEFFA-1", "\uFEFFA-1\n"})
    void textIsComparedWithoutMarkAndLastLineBreak(String same) {
        assertThat(body(same)).isEqualTo(ClaimKey.sha256("A-1"));
    }

    @Test
    void valueOfAnExpressionIsComparedByEachCharacter() {
        assertThat(Content.ofValue("{\"a\": 1}\n").fingerprint()).isEqualTo(ClaimKey.sha256("{\"a\": 1}\n"));
        assertThat(Content.ofValue("\uD83D\uDCE6\u00e9").fingerprint())
                .isEqualTo(ClaimKey.sha256("\uD83D\uDCE6\u00e9"));
        assertThat(Content.ofValue("").fingerprint()).isEqualTo(ClaimKey.sha256(""));
    }

    @Test
    void randomDocumentIsTheSameInAnyLayout() {
        long seed = Long.getLong("json.seed", System.nanoTime());
        RandomJson random = new RandomJson(seed);
        for (int number = 0; number < 200; number++) {
            Object document = random.document();
            String one = random.write(document);
            String other = random.write(document);

            assertThat(body(one)).as("%d: %s and %s", seed, one, other).isEqualTo(body(other));
        }
    }

    @Test
    void randomChangeOfADocumentIsAnotherContent() {
        long seed = Long.getLong("json.seed", System.nanoTime());
        RandomJson random = new RandomJson(seed);
        for (int number = 0; number < 200; number++) {
            Object document = random.document();
            String one = random.write(document);
            String other = random.write(random.changed(document));

            assertThat(body(one)).as("%d: %s and %s", seed, one, other).isNotEqualTo(body(other));
        }
    }

    /**
     * A JSON body is hashed as its canonical text, and any other body as it is. So documents share a fingerprint only
     * if they are equal, and a body that is not JSON never has the fingerprint of a document.
     */
    @Test
    void bodyAndItsTextHaveOneFingerprintOnlyIfItIsCanonical() {
        RandomJson random = new RandomJson(Long.getLong("json.seed", System.nanoTime()));
        Map<String, Object> byFingerprint = new HashMap<>();
        for (int number = 0; number < 200; number++) {
            Object document = random.document();
            String text = random.write(document);
            byFingerprint.merge(body(text), document, (one, other) -> {
                assertThat(one).isEqualTo(other);
                return one;
            });
            byFingerprint.merge(body(text + "x"), text, (one, other) -> {
                assertThat(one).isEqualTo(other);
                return one;
            });
        }
    }

    private static final int LARGEST_MESSAGE = 1 << 20;

    /** Texts that are expensive to read. Most texts are about as long as the largest message. */
    private static final Map<String, Supplier<String>> HOSTILE = Map.ofEntries(
            entry("arrays", () -> "[".repeat(LARGEST_MESSAGE)),
            entry("100,000 arrays", () -> "[".repeat(100_000) + "]".repeat(100_000)),
            entry("objects", () -> "{\"a\":".repeat(LARGEST_MESSAGE / 5)),
            entry("100,000 objects", () -> "{\"a\":".repeat(100_000) + "1" + "}".repeat(100_000)),
            entry("fields of one name", () -> many(LARGEST_MESSAGE / 5, number -> "\"\":0")),
            entry(
                    "fields in the wrong order",
                    () -> many(LARGEST_MESSAGE / 11, number -> "\"%06d\":0".formatted(LARGEST_MESSAGE - number))),
            entry(
                    "names of one hash",
                    () -> many(LARGEST_MESSAGE / 36, number -> "\"%s\":0".formatted(sameHash(number)))),
            entry("nested in the wrong order", () -> nested(CanonicalJson.DEEPEST - 1)),
            entry("a number", () -> "[" + "9".repeat(LARGEST_MESSAGE) + "]"),
            entry("an exponent", () -> "[1e" + "9".repeat(LARGEST_MESSAGE) + "]"),
            entry("a name", () -> "{\"" + "n".repeat(LARGEST_MESSAGE) + "\":1}"),
            entry("a string", () -> "\"" + "\\u0000".repeat(LARGEST_MESSAGE / 6) + "\""),
            entry("blanks", () -> " ".repeat(LARGEST_MESSAGE)));

    private static String many(int count, IntFunction<String> field) {
        return IntStream.range(0, count).mapToObj(field).collect(Collectors.joining(",", "{", "}"));
    }

    /**
     * Returns a field name for a number. All names have the same hash code: each bit becomes one of two pairs of
     * characters, and Jackson's factor of 33 gives both pairs the same hash.
     */
    private static String sameHash(int number) {
        return IntStream.range(0, 16)
                .mapToObj(bit -> (number >> bit & 1) == 0 ? "aB" : "b!")
                .collect(Collectors.joining());
    }

    private static String nested(int depth) {
        return "{\"b\":".repeat(depth) + "\"" + "x".repeat(LARGEST_MESSAGE) + "\"" + ",\"a\":1}".repeat(depth);
    }

    static String text(String name) {
        return Objects.requireNonNull(HOSTILE.get(name)).get();
    }

    static Set<String> hostile() {
        return new TreeSet<>(HOSTILE.keySet());
    }

    @ParameterizedTest
    @MethodSource("hostile")
    @Timeout(20)
    void hostileBodyHasAFingerprint(String name) {
        String body = text(name);

        assertThat(body(body)).hasSize(64).isNotEqualTo(body(body + "x"));
    }

    @Test
    void anyBodyHasAFingerprint() {
        HostileMessages hostile = new HostileMessages(Long.getLong("hostile.seed", System.nanoTime()));
        for (int number = 0; number < 200; number++) {
            assertThat(body(hostile.body())).hasSize(64);
        }
    }

    @Test
    void contentIsNotShown() {
        assertThat(Content.ofBody("4111").toString()).doesNotContain("4111").contains("4 characters");
    }

    /**
     * Returns bodies of the maximum size, one for each part of a document that needs a buffer: names, escapes, order,
     * characters of three bytes, or an envelope. A sender chooses the part.
     */
    private static Map<String, String> largest() {
        int all = 1 << 20;
        String names =
                IntStream.range(0, all / 5).mapToObj(each -> "\"\":0").collect(Collectors.joining(",", "{", "}"));
        String unsorted = "[{\"b\":\"%s\",\"a\":0}]".formatted("x".repeat(all - 100));
        String message = "\\u20ac".repeat(all / 6 - 100);
        return Map.of(
                "names",
                names,
                "unsorted",
                unsorted,
                "wide",
                "\"" + "\u20ac".repeat(all / 3 - 10) + "\"",
                "text",
                "x".repeat(all),
                "envelope",
                "{\"Type\":\"Notification\",\"TopicArn\":\"a\",\"Message\":\"%s\"}".formatted(message),
                "document",
                "{\"a\":\"%s\"}".formatted("x".repeat(all - 100)));
    }

    private static long allocatedBy(String body) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        body(body);
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    }

    /** The test counts all bytes that a fingerprint allocates. The memory in use at any moment is smaller. */
    @Test
    void fingerprintTakesWhatThePageSays() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "sizing.md"));
        Matcher times = Pattern.compile("(?m)^\\| fingerprint of a message[^|]*\\|[^|]*\\| (\\d+) times the length")
                .matcher(page);
        assertThat(times.find()).isTrue();
        long documented = Long.parseLong(times.group(1)) << 20;
        body("{}");

        Map<String, Long> allocated = new TreeMap<>();
        largest().forEach((kind, body) -> allocated.put(kind, allocatedBy(body)));

        assertThat(allocated.values()).as(allocated.toString()).allMatch(bytes -> bytes <= documented);
        assertThat(Collections.max(allocated.values())).as(allocated.toString()).isGreaterThan(documented / 2);
        assertThat(allocated.get("document"))
                .as("of 1 MiB without white space: characters and text, once each")
                .isLessThan((3L << 20) + (1 << 16));
    }
}

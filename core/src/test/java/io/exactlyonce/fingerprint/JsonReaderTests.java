package io.exactlyonce.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

class JsonReaderTests {

    private static final JsonFactory JACKSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNumberLength(JsonReader.LONGEST)
                    .build())
            .build();

    private final JsonReader reader = new JsonReader(new CanonicalJson(), SnsEnvelope.MESSAGE);

    private static boolean isJsonForJackson(String text) {
        try (JsonParser parser = JACKSON.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() == null) {
                return false;
            }
            parser.skipChildren();
            parser.finishToken();
            return parser.nextToken() == null;
        } catch (JacksonException notJson) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\0",
                "null",
                "nul",
                "nulls",
                "true",
                "false",
                "NaN",
                "Infinity",
                "0",
                "-0",
                "-",
                "+1",
                "01",
                "1.",
                ".1",
                "1.0",
                "1e",
                "1e+",
                "1e+0",
                "1E-10",
                "0x1",
                "1 ",
                "1 1",
                "1,",
                "\"\"",
                "\"",
                "\"a",
                "\"\t\"",
                "\"\u007f\"",
                "\"\\\"",
                "\"\\\\\"",
                "\"\\a\"",
                "\"\\u12\"",
                "\"\\u123g\"",
                "\"\\uABcd\"",
                "\"\\U0041\"",
                "'a'",
                "[",
                "]",
                "[]",
                "[1",
                "[1,",
                "[1,]",
                "[,1]",
                "[1 2]",
                "[1]]",
                "[1,,2]",
                "{",
                "}",
                "{}",
                "{\"a\"",
                "{\"a\":",
                "{\"a\":1",
                "{\"a\":1,}",
                "{\"a\" 1}",
                "{\"a\":1 \"b\":2}",
                "{a:1}",
                "{1:1}",
                "{\"a\":}",
                "{,}",
                "{\"a\":1}}",
                "[}",
                "{]",
                "[{]}",
                "// a\n1",
                "/**/1",
                "\u00a01",
                "1\u2028",
                "\uFEFF1",
                "\u000b1",
                "[1]\0",
                "\"\uD83D\"",
                "\"\\ud83d\"",
                "undefined"
            })
    void textIsJsonIfItIsForJackson(String text) {
        assertThat(reader.read(text)).isEqualTo(isJsonForJackson(text));
    }

    @Test
    void randomTextIsJsonIfItIsForJackson() {
        long seed = Long.getLong("json.seed", System.nanoTime());
        RandomJson random = new RandomJson(seed);
        int json = 0;
        for (int number = 0; number < 1_000; number++) {
            String text = random.damaged(random.write(random.document()));

            boolean isJson = reader.read(text);

            assertThat(isJson).as("%d: %s", seed, text).isEqualTo(isJsonForJackson(text));
            json += isJson ? 1 : 0;
        }
        assertThat(json).isBetween(100, 900);
    }

    @Test
    void depthIsBoundedAsJacksonsIs() {
        int deepest = CanonicalJson.DEEPEST;
        for (int depth : new int[] {deepest, deepest + 1}) {
            for (String text : new String[] {
                "[".repeat(depth) + "]".repeat(depth), "{\"a\":".repeat(depth) + "1" + "}".repeat(depth)
            }) {
                assertThat(reader.read(text)).isEqualTo(depth <= deepest).isEqualTo(isJsonForJackson(text));
            }
        }
    }

    @Test
    void longerTextIsNotRead() {
        assertThat(reader.read(" ".repeat(JsonReader.LONGEST - 1) + "1")).isTrue();
        assertThat(reader.read(" ".repeat(JsonReader.LONGEST) + "1")).isFalse();
    }

    /** Nested objects with unsorted fields are expensive: each object moves its whole content to sort its fields. */
    @Test
    void movesAreBounded() {
        String long20 = "{\"b\":".repeat(20) + "\"" + "x".repeat(10_000) + "\"" + ",\"a\":1}".repeat(20);
        String long100 = "{\"b\":".repeat(100) + "\"" + "x".repeat(10_000) + "\"" + ",\"a\":1}".repeat(100);

        assertThat(reader.read(long20)).isTrue();
        assertThat(reader.read(long100)).isFalse();
        assertThat(isJsonForJackson(long100)).isTrue();
    }
}

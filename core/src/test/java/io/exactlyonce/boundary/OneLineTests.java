package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OneLineTests {

    /** Texts that start a new line, move the cursor, or change how the rest of the line is displayed. */
    static Stream<String> hostile() {
        return Stream.of(
                "\n",
                "\r",
                "\r\n",
                "\t",
                "\u000B",
                "\f",
                "\u001B[2J",
                "\b",
                "\u007F",
                "\u0085",
                "\u009B2J",
                "\u2028",
                "\u2029",
                "\u200B",
                "\u200E",
                "\u200F",
                "\u061C",
                "\u202A",
                "\u202B",
                "\u202C",
                "\u202D",
                "\u202E",
                "\u2066",
                "\u2067",
                "\u2068",
                "\u2069",
                "\u2060",
                "\uFEFF",
                "\u00AD",
                "\uFFF9",
                "\uDB40\uDC41");
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void hostileCharacterIsASpace(String hostile) {
        String line = OneLine.of("a" + hostile + "b", 100);

        assertThat(line).startsWith("a ").endsWith("b");
        assertThat(line.codePoints()).allMatch(each -> switch (Character.getType(each)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        });
    }

    @Test
    void textThatAPersonWritesStays() {
        String text =
                "Zo\u00eb O'Brien, \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 e\u0301 \uD83D\uDC69\u200D\uD83D\uDE80";

        assertThat(OneLine.of(text, 100)).isEqualTo(text);
    }

    @Test
    void longTextIsCutBetweenCharacters() {
        assertThat(OneLine.of("ab\uD83D\uDC69", 3)).isEqualTo("ab");
        assertThat(OneLine.of("ab\uD83D\uDC69", 4)).isEqualTo("ab\uD83D\uDC69");
    }
}

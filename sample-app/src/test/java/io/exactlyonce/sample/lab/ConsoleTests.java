package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ConsoleTests {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Test
    void barsAreNeitherDrawnNorRequestedWhereThereIsNoTerminal() {
        Console console = new Console(out, false);

        console.bars(() -> fail("asked for"));
        console.line("the end");

        assertThat(printed()).isEqualTo("the end" + System.lineSeparator());
    }

    @Test
    void whatIsWrittenTakesThePlaceOfTheBars() {
        Console console = new Console(out, true);

        console.bars(() -> "[#---]");
        console.bars(() -> "[##--]");
        console.line("the end");

        String erased = "\r" + " ".repeat("[  0.0 s] [#---]".length()) + "\r";
        assertThat(printed().replaceAll("\\[ +[0-9.]+ s]", "[  0.0 s]"))
                .isEqualTo(
                        "[  0.0 s] [#---]" + erased + "[  0.0 s] [##--]" + erased + "the end" + System.lineSeparator());
    }

    @Test
    void barIsFilledByWhatIsDone() {
        assertThat(Console.bar("naive", 0, 120)).isEqualTo("naive [--------------------] 0/120");
        assertThat(Console.bar("naive", 60, 120)).isEqualTo("naive [##########----------] 60/120");
        assertThat(Console.bar("naive", 120, 120)).isEqualTo("naive [####################] 120/120");
    }

    private String printed() {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}

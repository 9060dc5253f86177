package io.exactlyonce.chaos.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JudgeTests {

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private int judge(List<Event> events) throws Exception {
        Path file = directory.resolve("history.jsonl");
        try (Recorder recorder = new Recorder(file)) {
            events.forEach(recorder::record);
        }
        String[] arguments = {file.toString(), "PT60S", "PT153S", "PT10S", "PT0.1S", "false"};
        return Judge.judge(arguments, new PrintStream(output, true, StandardCharsets.UTF_8));
    }

    @Test
    void goodRunIsJudgedGoodAgain() throws Exception {
        assertThat(judge(List.of(Event.of(Kind.FAULTS_OVER), Event.of(Kind.DRAINED))))
                .isZero();
        assertThat(output.toString(StandardCharsets.UTF_8)).contains("duplicate effects=0 lost=0 stuck=0");
    }

    @Test
    void badRunIsReportedWithItsEvents() throws Exception {
        List<Event> stuck = List.of(
                Story.external("k").get(0),
                Story.external("k").get(1),
                Event.of(Kind.FAULTS_OVER),
                Event.of(Kind.DRAINED));

        assertThat(judge(stuck)).isEqualTo(1);
        assertThat(output.toString(StandardCharsets.UTF_8))
                .contains("NOTHING_STUCK k: neither completed", "kind=SENT", "stuck=1");
    }

    @Test
    void usageIsPrintedIfArgumentsAreMissing() throws Exception {
        assertThat(Judge.judge(new String[0], new PrintStream(output))).isEqualTo(2);
    }
}

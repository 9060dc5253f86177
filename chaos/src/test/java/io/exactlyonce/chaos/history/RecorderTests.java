package io.exactlyonce.chaos.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecorderTests {

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("history.jsonl");
    }

    private List<Event> history() throws Exception {
        return Files.readAllLines(file()).stream().map(EventJson::read).toList();
    }

    @Test
    void answeredEventIsInTheFileAlready() throws Exception {
        Event entered = Event.of(Kind.ENTERED)
                .by("w1")
                .on("orders/ü\n\"1\"")
                .in("c1")
                .with(Detail.TOKEN, 7)
                .with(Detail.ATTEMPT, 2)
                .with(Detail.IN_DOUBT, true);
        try (Recorder recorder = new Recorder(file())) {
            Event recorded = recorder.record(entered);

            assertThat(history()).containsExactly(recorded);
            assertThat(recorded.order()).isEqualTo(1);
            assertThat(recorded.number(Detail.TOKEN)).isEqualTo(7);
            assertThat(recorded.is(Detail.IN_DOUBT)).isTrue();
        }
    }

    @Test
    void eventsOfManyThreadsOfAWorkerAreInOneOrderWithoutGaps() throws Exception {
        try (Recorder recorder = new Recorder(file());
                RecorderServer server = new RecorderServer(recorder);
                RecorderClient client = new RecorderClient(server.port(), "w1")) {
            IntStream.range(0, 200)
                    .parallel()
                    .forEach(number -> client.record(Event.of(Kind.SENT).on("k" + number)));
        }

        assertThat(history()).hasSize(200).allMatch(event -> event.worker().equals("w1"));
        assertThat(history().stream().map(Event::order))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 200).boxed().toList());
    }

    @Test
    void eventThatLacksWhatItsKindNeedsIsRefusedAndTheNextOneIsNot() throws Exception {
        try (Recorder recorder = new Recorder(file());
                RecorderServer server = new RecorderServer(recorder);
                RecorderClient client = new RecorderClient(server.port(), "w1")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> client.record(Event.of(Kind.FAILED).on("k").in("c")))
                    .withMessageContaining("FAILED must tell its REASON");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.record(Event.of(Kind.SENT)))
                    .withMessageContaining("SENT must name its KEY");

            assertThat(client.record(Event.of(Kind.SENT).on("k"))).isEqualTo(1);
        }
    }

    @Test
    void interruptedHandlerStillRecords() throws Exception {
        try (Recorder recorder = new Recorder(file());
                RecorderServer server = new RecorderServer(recorder);
                RecorderClient client = new RecorderClient(server.port(), "w1")) {
            Thread.currentThread().interrupt();

            client.record(Event.of(Kind.SENT).on("k"));

            assertThat(Thread.interrupted()).isTrue();
            assertThat(history()).hasSize(1);
        }
    }

    @Test
    void halfALineOfAKilledWorkerIsDropped() throws Exception {
        try (Recorder recorder = new Recorder(file());
                RecorderServer server = new RecorderServer(recorder);
                RecorderClient client = new RecorderClient(server.port(), "w1")) {
            String line = EventJson.write(Event.of(Kind.SENT).on("half"));
            try (Socket killed = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                OutputStream out = killed.getOutputStream();
                out.write(line.getBytes(StandardCharsets.UTF_8));
                killed.shutdownOutput();
                assertThat(killed.getInputStream().read()).isEqualTo(-1);
            }

            client.record(Event.of(Kind.SENT).on("whole"));

            assertThat(history()).extracting(Event::key).containsExactly("whole");
        }
    }
}

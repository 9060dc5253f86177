package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * A sender that the queue's policy admits chooses what makes a listener's memory grow. It stops no listener, neither
 * its own nor another one of the application, which has 512 MB.
 */
@UsesSqs
class HostileSenderIT {

    private static final SqsServer SQS = SqsServer.shared();
    /**
     * The number of deliveries that may wait; some more are sent, which are returned. Twenty payloads would already
     * fill the application's memory. The default of 1,000 takes minutes.
     */
    private static final int MOST_WAITING = Integer.getInteger("hostile.waiting", 40);

    private static final Duration LONG = Duration.ofSeconds(120 + MOST_WAITING / 2);

    private static final int ROUND = 400;

    private final Map<String, String> queues = new HashMap<>();

    @TempDir
    private Path directory;

    private WorkerProcess application;

    @BeforeEach
    void start() throws Exception {
        queues.put("attacked", SQS.createQueue(60));
        queues.put("grouped", SQS.createFifoQueue(60, 5));
        for (int other = 0; other < CrowdedApplication.OTHERS; other++) {
            queues.put("other" + other, SQS.createQueue(60));
        }
        Map<String, String> properties = new HashMap<>(Map.of(
                "test.directory",
                directory.toString(),
                "spring.main.web-application-type",
                "none",
                "exactly-once.retry.max-waiting",
                String.valueOf(MOST_WAITING)));
        queues.forEach((name, queue) -> properties.put("test." + name, queue));
        application = WorkerProcess.start(
                List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")),
                CrowdedApplication.class,
                directory,
                TestApplication.arguments(EmbeddedDatabase.shared().createDatabase(), properties));
        await().atMost(LONG).until(() -> Files.exists(directory.resolve("report")));
    }

    @AfterEach
    void stop() {
        application.close();
    }

    private long told(String name) {
        try {
            assertThat(application.isAlive()).as(this::log).isTrue();
            return Files.readAllLines(directory.resolve("report")).stream()
                    .filter(line -> line.startsWith(name + "="))
                    .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private String log() {
        try {
            return Files.readString(directory.resolve("worker.log"));
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private void send(String queue, List<String> bodies) {
        String url = SQS.urlOf(queues.get(queue));
        for (int from = 0; from < bodies.size(); from += 10) {
            List<SendMessageBatchRequestEntry> entries = IntStream.range(from, Math.min(from + 10, bodies.size()))
                    .mapToObj(number -> SendMessageBatchRequestEntry.builder()
                            .id("m" + number)
                            .messageBody(bodies.get(number))
                            .build())
                    .toList();
            assertThat(SQS.client()
                            .sendMessageBatch(request -> request.queueUrl(url).entries(entries))
                            .failed())
                    .isEmpty();
        }
    }

    /** One message of each of many groups, and many of one. */
    private void sendGroups(int groups, int characters) {
        String url = SQS.urlOf(queues.get("grouped"));
        for (int number = 0; number < 2 * groups; number++) {
            String name = "group" + Math.max(0, number - groups);
            String id = "grouped " + number;
            SQS.client()
                    .sendMessage(request -> request.queueUrl(url)
                            .messageBody(order(id, characters))
                            .messageGroupId(name)
                            .messageDeduplicationId(id.replace(' ', '-')));
        }
    }

    private void sendLarge(Supplier<String> body, Map<String, MessageAttributeValue> attributes) {
        SQS.client()
                .sendMessage(request -> request.queueUrl(SQS.urlOf(queues.get("attacked")))
                        .messageBody(body.get())
                        .messageAttributes(attributes));
    }

    private long handledByOthers() {
        return IntStream.range(0, CrowdedApplication.OTHERS)
                .mapToLong(other -> told("other" + other))
                .sum();
    }

    /** Returns how many messages a second the other listeners handle, of a round. */
    private double rateOfOthers() {
        long before = handledByOthers();
        long start = System.nanoTime();
        for (int other = 0; other < CrowdedApplication.OTHERS; other++) {
            send(
                    "other" + other,
                    IntStream.range(0, ROUND / CrowdedApplication.OTHERS)
                            .mapToObj(number -> "order " + number)
                            .toList());
        }
        await().pollInterval(Duration.ofMillis(20)).atMost(LONG).until(() -> handledByOthers() == before + ROUND);
        return ROUND * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start);
    }

    private double bestRateOfOthers(int rounds, double enough) {
        double best = 0;
        for (int round = 0; round < rounds && best < enough; round++) {
            best = Math.max(best, rateOfOthers());
        }
        return best;
    }

    /** Returns a JSON object of about this number of characters, whose payload takes thirty times as much memory. */
    private static String order(String id, int characters) {
        return "{\"id\":\"%s\",\"x\":[{}%s]}".formatted(id, ",{}".repeat(characters / 3));
    }

    private void assertNothingCrashed() {
        assertThat(told("crashes")).as(this::log).isZero();
        assertThat(log()).doesNotContain("OutOfMemoryError");
    }

    @Test
    void duplicatesOfOneSlowKeyLeaveTheOtherListenersTheirMemoryAndTheirRate() throws IOException {
        // A listener that is quick receives ahead.
        send(
                "attacked",
                IntStream.range(0, 50)
                        .mapToObj(number -> order("quick " + number, 10))
                        .toList());
        await().atMost(LONG).until(() -> told("attacked") == 50);
        rateOfOthers();
        double before = bestRateOfOthers(3, Double.MAX_VALUE);

        String duplicate = order(CrowdedApplication.SLOW, (1 << 20) - 100);
        for (int sent = 0; sent < MOST_WAITING + 20; sent++) {
            sendLarge(() -> duplicate, Map.of());
        }
        await().atMost(LONG).until(() -> told("waiting") == MOST_WAITING);
        double meanwhile = bestRateOfOthers(6, 0.8 * before);

        assertNothingCrashed();
        assertThat(meanwhile)
                .as("messages a second, beside %.0f before", before)
                .isGreaterThan(0.8 * before);
        Files.createFile(directory.resolve(CrowdedApplication.RELEASE));
        await().atMost(LONG).until(() -> told("waiting") == 0);
        assertThat(told("attacked")).as("its effect happens once").isEqualTo(51);
        assertNothingCrashed();
    }

    @Test
    void largeMessagesOfAllKindsLeaveTheListenerItsMemory() {
        List<String> bodies = new ArrayList<>();
        for (int number = 0; number < 60; number++) {
            bodies.add(order("key " + number, 250_000));
        }
        bodies.forEach(body -> sendLarge(() -> body, Map.of()));
        for (int number = 0; number < 20; number++) {
            sendLarge(() -> "[".repeat(250_000), Map.of());
            sendLarge(() -> "{\"id\":".repeat(40_000), Map.of());
            sendLarge(() -> "{\"id\":\"" + "k".repeat(250_000), Map.of());
        }
        for (int number = 0; number < 20; number++) {
            Map<String, MessageAttributeValue> attributes = new HashMap<>();
            for (int attribute = 0; attribute < 10; attribute++) {
                attributes.put(
                        "attribute" + attribute,
                        MessageAttributeValue.builder()
                                .dataType("String")
                                .stringValue("v".repeat(20_000))
                                .build());
            }
            String id = "with attributes " + number;
            sendLarge(() -> order(id, 100), attributes);
        }
        String longKey = "{\"id\":\"%s\"}".formatted("k".repeat(250_000));
        sendLarge(() -> longKey, Map.of());

        sendGroups(20, 250_000);

        await().atMost(LONG).until(() -> told("attacked") == 81);
        await().atMost(LONG).until(() -> told("grouped") == 40);
        assertNothingCrashed();
        rateOfOthers();
    }

    /** Each is received again and again. */
    @Test
    void unreadableMessagesAreLoggedOnceEach() {
        int messages = 300;
        send(
                "attacked",
                IntStream.range(0, messages)
                        .mapToObj(number -> "no JSON " + number)
                        .toList());
        // A server may hand out some messages several times before it hands out others.
        await().atMost(LONG).until(() -> told("received") >= 3L * messages && logged(unreadable()) == messages);

        List<String> lines = unreadable();
        // One line more for each minute of the test.
        assertThat(lines).hasSizeBetween(messages, messages + (int) LONG.toMinutes() + 1);
        assertNothingCrashed();
    }

    private List<String> unreadable() {
        return log().lines().filter(line -> line.contains("cannot be read as")).toList();
    }

    /** Counts the messages that the lines name. */
    private static long logged(List<String> lines) {
        return lines.stream()
                .map(line -> line.replaceAll("(?s).*message (\\S+) .receive.*", "$1"))
                .distinct()
                .count();
    }
}

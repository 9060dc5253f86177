package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.ListenerMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;

/** Measures how much memory deliveries use for their messages, for docs/sizing.md. */
class MemoryTests {

    private static final int DELIVERIES = 1_000;
    private static final int BODY = 60_000;

    /** The length of a receipt handle. Handles of SQS are shorter. */
    private static final int HANDLE = 1_024;

    private static final int KEY = 512;

    static class Keyed {
        @ExactlyOnceListener(id = "listener", queueNames = "orders", key = "#order.substring(0, 512)")
        void handle(String order) {}
    }

    /** The rig's limit on waiting deliveries, which is also {@code max-waiting} in the formula of docs/sizing.md. */
    private static final int MOST_WAITING = 1_000;

    private static final int MOST_DELETES = 8_192;

    /** Bytes of memory that a payload uses per character of its body, if the body is a list of empty JSON objects. */
    private static final long JSON_FACTOR = 30;

    record Basket(String id, List<Map<String, Object>> x) {}

    static class Baskets {
        @ExactlyOnceListener(id = "listener", queueNames = "orders", key = "#basket.id")
        void handle(Basket basket) {}
    }

    static class Batches {
        @ExactlyOnceListener(id = "listener", queueNames = "orders", key = "#payload.id")
        void handle(List<Basket> baskets) {}
    }

    /** The memory that the threads together keep for their next fingerprints. */
    private static final long SPARE = 6L << 20;

    /** Returns the used heap. Collects garbage twice, because some unreachable objects need a second collection. */
    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void arrive(DispatcherRig rig) {
        for (int number = 0; number < DELIVERIES; number += 10) {
            rig.handled.clear();
            rig.arrive(IntStream.range(number, number + 10)
                    .mapToObj(MemoryTests::message)
                    .toList());
        }
    }

    /**
     * Creates a message whose body has a character outside Latin-1, so that the string uses two bytes for each
     * character.
     */
    private static Message message(int number) {
        String unique = "\u20ac%d ".formatted(number);
        return FakeReceives.message(number + "h".repeat(HANDLE), "", 1).toBuilder()
                .body(unique + "b".repeat(BODY))
                .build();
    }

    private static long documented(String row) throws Exception {
        String page = Files.readString(Path.of("..", "docs", "sizing.md"));
        Matcher bytes = Pattern.compile("(?m)^\\| " + row + "[^|]*\\|[^|]*\\| (\\d+) KiB")
                .matcher(page);
        assertThat(bytes.find()).as(row).isTrue();
        return Long.parseLong(bytes.group(1)) << 10;
    }

    /**
     * Measures how much memory a delivery uses. Threads of other tests may use memory meanwhile, so the least of three
     * rounds counts.
     */
    private static long perDelivery(Supplier<DispatcherRig> rigs, Consumer<DispatcherRig> check) {
        long least = Long.MAX_VALUE;
        for (int round = 1; round <= 3; round++) {
            DispatcherRig rig = rigs.get();
            long before = heap();
            arrive(rig);
            least = Math.min(least, (heap() - before) / DELIVERIES);
            check.accept(rig);
        }
        return least;
    }

    @Test
    void deliveryThatWaitsTakesAtMostWhatThePageSays() throws Exception {
        Supplier<DispatcherRig> rigs = () -> {
            DispatcherRig rig = new DispatcherRig(new Keyed(), "orders");
            IntStream.range(0, DELIVERIES).forEach(each -> rig.store.answer(new HeldElsewhere(Duration.ofSeconds(5))));
            return rig;
        };

        assertThat(perDelivery(rigs, rig -> {
                    assertThat(rig.received)
                            .hasSize(DELIVERIES)
                            .allMatch(delivery -> delivery.state() == DeliveryState.WAITING);
                    assertThat(keys(rig)).allMatch(key -> key.length() == KEY).doesNotHaveDuplicates();
                }))
                .isLessThan(documented("deliveries that wait for the owner of their key"));
    }

    private static List<String> keys(DispatcherRig rig) {
        return rig.received.stream()
                .map(delivery -> delivery.attempt().key().key())
                .toList();
    }

    @Test
    void messageWhoseDeleteIsNotConfirmedTakesAtMostWhatThePageSays() throws Exception {
        Supplier<DispatcherRig> rigs = () -> {
            DispatcherRig quiet =
                    new DispatcherRig(ListenerRig.settings(new Keyed(), "handle"), "orders", options -> {}, false);
            quiet.sqs.answerDeletes(CompletableFuture<DeleteMessageBatchResponse>::new);
            return quiet;
        };

        assertThat(perDelivery(
                        rigs,
                        quiet -> assertThat(quiet.received).hasSize(DELIVERIES).allMatch(Delivery::isAcknowledged)))
                .isLessThan(documented("messages whose delete is not confirmed"));
    }

    /**
     * The listener has as many waiting duplicates, unconfirmed deletes, running handlers and received messages as
     * possible, and its payloads are the most expensive JSON. Operators size the heap by the formula of docs/sizing.md,
     * so the result of the formula may be at most twice the measured use.
     */
    @ParameterizedTest
    @CsvSource({"60000, 10, false", "250000, 8, false", "60000, 10, true", "250000, 8, true"})
    void listenerAtItsBoundsTakesWhatTheFormulaSays(int characters, int concurrent, boolean isBatch) throws Exception {
        DispatcherRig full = new DispatcherRig(
                ListenerRig.settings(isBatch ? new Batches() : new Baskets(), "handle"),
                "orders",
                options -> options.maxConcurrentMessages(concurrent)
                        .maxMessagesPerPoll(concurrent)
                        .listenerMode(isBatch ? ListenerMode.BATCH : ListenerMode.SINGLE_MESSAGE),
                false);
        full.readAs(Basket.class);
        full.sqs.answerDeletes(CompletableFuture<DeleteMessageBatchResponse>::new);
        CompletableFuture<Void> end = new CompletableFuture<>();
        CountDownLatch running = new CountDownLatch(concurrent);
        long before = heap();

        IntStream.range(0, MOST_WAITING).forEach(each -> full.store.answer(new HeldElsewhere(Duration.ofSeconds(5))));
        arriveSmall(full, 0, MOST_WAITING);
        assertThat(full.received).hasSize(MOST_WAITING).allMatch(each -> each.state() == DeliveryState.WAITING);
        arriveSmall(full, MOST_WAITING, MOST_DELETES);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        full.executor = task -> {
            Thread thread = new Thread(task);
            threads.add(thread);
            thread.start();
        };
        full.handler = messages -> {
            messages.forEach(each -> running.countDown());
            // The handler uses the payloads after its wait, so they stay in memory.
            return end.thenRun(() -> assertThat(messages)
                    .allSatisfy(each -> assertThat(each.getPayload()).isInstanceOf(Basket.class)));
        };
        int poll = isBatch ? concurrent : 1;
        for (int number = 0; number < 2 * concurrent; number += poll) {
            full.arrive(baskets(number, poll, characters));
        }
        assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
        long used = heap() - before;

        assertThat(used)
                .as("bytes in use, of %d", formula(characters, concurrent))
                .isBetween(formula(characters, concurrent) / 2, formula(characters, concurrent));
        assertThat(full.received).isNotEmpty();
        end.complete(null);
        // The memory of a thread that still ran would be measured with that of the next test.
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /**
     * Each of four threads reads a poll, and stops after the last message of the poll. The formula also counts a
     * fingerprint per thread, and the two copies of each body that the SDK keeps while it reads an answer. This test
     * creates neither.
     */
    @ParameterizedTest
    @ValueSource(ints = {60_000, 250_000})
    void pollsThatAreReadAtATimeTakeWhatTheFormulaSays(int characters) throws Exception {
        int threads = 4;
        int poll = 8;
        CountDownLatch read = new CountDownLatch(threads * poll);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> readers = new ArrayList<>();
        List<DispatcherRig> rigs = new ArrayList<>();
        for (int each = 0; each < threads; each++) {
            DispatcherRig one = new DispatcherRig(new Baskets(), "orders");
            one.readAs(Basket.class);
            AtomicInteger messages = new AtomicInteger();
            one.specified = received -> {
                boolean isLast = messages.incrementAndGet() == poll;
                read.countDown();
                if (isLast) {
                    awaitUninterrupted(end);
                }
            };
            rigs.add(one);
        }
        long before = heap();

        for (DispatcherRig one : rigs) {
            Thread reader = new Thread(() -> one.arrive(baskets(0, poll, characters)));
            readers.add(reader);
            reader.start();
        }
        assertThat(read.await(30, TimeUnit.SECONDS)).isTrue();
        long used = heap() - before;
        end.countDown();
        for (Thread reader : readers) {
            reader.join();
        }

        long payload = JSON_FACTOR * characters;
        long ahead = characters > MessageReader.LARGE ? 0 : payload;
        long kept = threads * (poll * ahead + poll * 2L * characters + payload);
        long formula = kept + threads * (poll * 2L * characters + 16L * characters) + SPARE;
        assertThat(used).as("bytes in use, of %d", formula).isBetween(kept / 2, formula);
        assertThat(rigs).allSatisfy(one -> assertThat(one.received).hasSize(poll));
    }

    private static void awaitUninterrupted(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException stopping) {
            throw new IllegalStateException(stopping);
        }
    }

    private static List<Message> baskets(int from, int messages, int characters) {
        return IntStream.range(from, from + messages)
                .mapToObj(number -> basket("large " + number, characters))
                .toList();
    }

    private static long formula(int characters, int concurrent) throws Exception {
        long payload = JSON_FACTOR * characters;
        long ahead = characters > MessageReader.LARGE ? 0 : payload;
        long body = 2L * characters;
        return MOST_WAITING * documented("deliveries that wait for the owner of their key")
                + concurrent * payload
                + concurrent * ahead
                + 2 * concurrent * (body + documented("outcomes that wait for the store"))
                + MOST_DELETES * documented("messages whose delete is not confirmed");
    }

    private static void arriveSmall(DispatcherRig rig, int from, int messages) {
        for (int number = from; number < from + messages; number += 8) {
            rig.handled.clear();
            rig.arrive(IntStream.range(number, Math.min(number + 8, from + messages))
                    .mapToObj(each -> basket("%0512d".formatted(each), 0))
                    .toList());
        }
    }

    /** Creates a message whose payload uses as much memory as possible. The body uses two bytes for each character. */
    private static Message basket(String id, int characters) {
        String body = "{\"id\":\"%s\",\"x\":[{\"\":\"\u20ac\"}%s]}".formatted(id, ",{}".repeat(characters / 3));
        return FakeReceives.message(id.hashCode() + "h".repeat(HANDLE), "", 1).toBuilder()
                .body(body)
                .build();
    }
}

package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrefetchLimiterTests {

    private static final int MOST = 10;
    private static final int POLL = 10;

    private long now;
    private final PrefetchLimiter<Object> limiter = new PrefetchLimiter<>(MOST, POLL, () -> now);
    private final List<Object> running = new ArrayList<>();

    /** Messages that arrived and have not started. */
    private final Deque<Object> arrived = new ArrayDeque<>();

    private int permits = MOST;

    private void poll(int messages) {
        permits -= messages;
        assertThat(permits).as("permits that are free").isNotNegative();
        permits += limiter.onReceived(arrive(messages));
    }

    private List<Object> arrive(int messages) {
        List<Object> all =
                IntStream.range(0, messages).mapToObj(index -> new Object()).toList();
        arrived.addAll(all);
        return all;
    }

    /** Returns a message that arrived. If none is left, receives a message first. */
    private Object next() {
        if (arrived.isEmpty()) {
            limiter.onReceived(arrive(1));
        }
        return arrived.remove();
    }

    private void begin(int messages) {
        List<Object> places =
                IntStream.range(0, messages).mapToObj(index -> next()).toList();
        limiter.execute(places, () -> running.addAll(places));
    }

    private void end() {
        leave(running.remove(0));
    }

    private void leave(Object place) {
        permits += limiter.onFinished(place) ? 1 : 0;
        limiter.proceed();
    }

    /** Polls once, and runs a handler of the given duration for each message. */
    private void handle(Duration each) {
        poll(POLL);
        for (int i = 0; i < POLL; i++) {
            begin(1);
        }
        now += each.toNanos();
        endAll();
    }

    private void endAll() {
        while (!running.isEmpty()) {
            end();
        }
    }

    @Test
    void nextPollNeedNotWaitOnceHandlersAreKnownToBeQuick() {
        poll(POLL);
        assertThat(permits).as("no handler has ended").isZero();
        begin(POLL);
        endAll();

        poll(POLL);

        assertThat(permits).isEqualTo(POLL);
    }

    @Test
    void prefetchedMessagesWaitUntilThereIsAPlaceForThemInTheirOrder() {
        handle(Duration.ofMillis(1));
        poll(POLL);
        poll(POLL);
        List<Integer> order = new ArrayList<>();
        for (int message = 0; message < 2 * POLL; message++) {
            int number = message;
            Object place = next();
            limiter.execute(List.of(place), () -> {
                running.add(place);
                order.add(number);
            });
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);

        end();

        assertThat(order).endsWith(10).hasSize(11);
        assertThat(permits).as("permits that are free").isOne();
    }

    @Test
    void nothingIsPrefetchedWhereMessagesWouldWaitForLong() {
        handle(Duration.ofMillis(101));

        poll(POLL);

        assertThat(permits).isZero();
    }

    @Test
    void prefetchingEndsWhenHandlersGrowSlowAndBeginsAgainWhenTheyAreQuick() {
        handle(Duration.ofMillis(1));
        handle(Duration.ofSeconds(1));
        assertThat(permits).isEqualTo(MOST);

        poll(POLL);
        assertThat(permits).isZero();

        begin(POLL);
        endAll();
        for (int poll = 0; poll < 5; poll++) {
            handle(Duration.ofMillis(1));
        }
        poll(POLL);
        assertThat(permits).isEqualTo(POLL);
    }

    @Test
    void batchBeginsWhenThereIsAPlaceForEachOfItsMessages() {
        begin(4);
        begin(8);
        begin(1);
        assertThat(running).hasSize(4);

        end();
        assertThat(running).as("its turn is kept").hasSize(3);
        end();
        assertThat(running).hasSize(10);
        end();
        assertThat(running).hasSize(10);
    }

    @Test
    void messageLeavesOnceHoweverOftenItIsReported() {
        poll(2);
        begin(2);
        Object first = running.get(0);

        leave(first);
        leave(first);

        assertThat(permits).isEqualTo(MOST - 1);
        begin(MOST);
        assertThat(running).as("nine places are free").hasSize(2);
        end();
        end();
        assertThat(running).hasSize(MOST);
    }

    @Test
    void messageThatLeavesBeforeItsTurnTakesNoPlace() {
        begin(MOST);
        Object gone = next();
        limiter.execute(List.of(gone), () -> running.add(gone));
        begin(1);
        leave(gone);

        end();

        assertThat(running).hasSize(MOST).doesNotContain(gone);
    }

    @Test
    void placesThatAreFreeAtOnceNeedNoStack() {
        int[] handled = {0};
        Object last = next();
        begin(MOST);
        for (int message = 0; message < 100_000; message++) {
            Object place = next();
            limiter.execute(List.of(place), () -> {
                handled[0]++;
                limiter.onFinished(place);
                limiter.proceed();
            });
        }
        limiter.execute(List.of(last), () -> handled[0]++);

        end();

        assertThat(handled[0]).isEqualTo(100_001);
    }

    @Test
    void stopWaitsForPrefetchedMessagesAndPrefetchesNoMore() throws Exception {
        PrefetchLimiter<Object> real = new PrefetchLimiter<>(MOST, POLL, System::nanoTime);
        Object quick = new Object();
        real.onReceived(List.of(quick));
        real.execute(List.of(quick), () -> real.onFinished(quick));
        real.proceed();
        Object second = new Object();
        Object third = new Object();
        assertThat(real.onReceived(List.of(second))).as("prefetched").isOne();
        assertThat(real.drain(Duration.ofMillis(1))).isFalse();
        assertThat(real.onReceived(List.of(third)))
                .as("prefetched while it stops")
                .isZero();

        CompletableFuture<Boolean> stop = CompletableFuture.supplyAsync(() -> drain(real));
        real.onFinished(second);
        assertThat(stop).isNotDone();
        real.onFinished(third);

        assertThat(stop.get(10, TimeUnit.SECONDS)).isTrue();
    }

    private static boolean drain(PrefetchLimiter<Object> limiter) {
        try {
            return limiter.drain(Duration.ofSeconds(20));
        } catch (InterruptedException stopping) {
            throw new IllegalStateException(stopping);
        }
    }

    /** No order of events loses or duplicates a permit, and the number of running handlers stays within the limit. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void permitsAndPlacesAreKeptWhateverTheOrder(long seed) {
        Random random = new Random(seed);
        int undecided = 0;
        int asked = 0;
        for (int step = 0; step < 20_000; step++) {
            switch (random.nextInt(4)) {
                case 0 -> {
                    int messages = Math.min(permits, 1 + random.nextInt(POLL));
                    poll(messages);
                    undecided += messages;
                }
                case 1 -> {
                    if (undecided > 0) {
                        undecided--;
                        if (random.nextInt(4) == 0) {
                            leave(next());
                        } else {
                            asked++;
                            begin(1);
                        }
                    }
                }
                case 2 -> {
                    if (!running.isEmpty()) {
                        asked--;
                        end();
                    }
                }
                default -> now += random.nextInt(random.nextInt(20) == 0 ? 2_000_000_000 : 2_000_000);
            }
            assertThat(running).hasSize(Math.min(asked, MOST));
            assertThat(undecided + asked).isLessThanOrEqualTo(MOST + POLL);
        }
        while (undecided-- > 0) {
            leave(next());
        }
        endAll();
        assertThat(permits).isEqualTo(MOST);
    }
}

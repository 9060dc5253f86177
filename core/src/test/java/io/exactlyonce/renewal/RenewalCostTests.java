package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How many requests renewals send: deliveries of one queue, received ten at a time, with the default schedule. */
class RenewalCostTests {

    private static final Logger log = LoggerFactory.getLogger(RenewalCostTests.class);

    private final FakeClock clock = new FakeClock();
    private final Random random = new Random(4);
    private final ScriptedStore store = new ScriptedStore();
    private final List<Integer> batches = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();
    private BooleanSupplier throttled = () -> false;

    private final Renewer renewer = new Renewer(
            store,
            new RenewalSchedule(0.5, 0.1),
            new RenewalObserver() {
                @Override
                public void renewed(Subscription subscription, Target target, Result result) {
                    results.add(result);
                }
            },
            Runnable::run,
            clock,
            random::nextDouble);

    /** Counts requests as the SQS adapter sends them: ten messages each. */
    private CompletableFuture<Map<String, QueueVisibility.Result>> count(List<QueueVisibility.Change> changes) {
        for (int from = 0; from < changes.size(); from += 10) {
            batches.add(Math.min(10, changes.size() - from));
        }
        QueueVisibility.Result answer =
                throttled.getAsBoolean() ? QueueVisibility.Result.FAILED : QueueVisibility.Result.CHANGED;
        return CompletableFuture.completedFuture(
                changes.stream().collect(Collectors.toMap(QueueVisibility.Change::receiptHandle, change -> answer)));
    }

    private Subscription orders(long windowSeconds) {
        return new Subscription("listener", "orders", VisibilityWindow.ofSeconds(windowSeconds), this::count);
    }

    private void receive(int messages, Duration betweenPolls, Subscription orders) {
        for (int message = 0; message < messages; message++) {
            if (message % 10 == 0) {
                tickFor(betweenPolls);
            }
            renewer.start(orders, "handle-" + message, clock.nanoTime());
        }
    }

    private void tickFor(Duration duration) {
        for (long tick = duration.dividedBy(Renewer.TICK); tick > 0; tick--) {
            clock.advance(Renewer.TICK);
            renewer.tick();
        }
    }

    /** One timer per message renews each message at 0.5 to 0.45 of its window, in a request of its own. */
    @ParameterizedTest
    @CsvSource({"10, 30, 0.1", "100, 30, 0.1", "100, 30, 1.5", "1000, 30, 0.1", "100, 2, 0.1", "100, 300, 5"})
    void messagesOfAQueueShareRequests(int messages, long window, double secondsBetweenPolls) {
        receive(messages, Duration.ofMillis((long) (secondsBetweenPolls * 1_000)), orders(window));
        tickFor(Duration.ofSeconds(window));
        batches.clear();
        results.clear();

        Duration measured = Duration.ofSeconds(20 * window);
        tickFor(measured);

        double messageMinutes = messages * measured.toSeconds() / 60.0;
        double ours = batches.size() / messageMinutes;
        double oneTimerEach = 60 / Math.max(1, window * 0.475);
        log.info(
                "{} messages, window {} s, a poll each {} s: {} requests per message-minute; one timer per message: {}",
                messages,
                window,
                secondsBetweenPolls,
                String.format("%.3f", ours),
                String.format("%.3f", oneTimerEach));
        assertThat(results).containsOnly(Result.SUCCEEDED);
        assertThat(results.size() / messageMinutes).isLessThan(oneTimerEach * 1.1);
        assertThat(ours).isLessThan(oneTimerEach * 0.15);
    }

    /** Trap: failed renewals that are all repeated at once make the throttling worse. */
    @Test
    void throttledQueueIsNotStormed() {
        receive(1_000, Duration.ofMillis(100), orders(30));
        tickFor(Duration.ofSeconds(3));
        assertThat(batches).isEmpty();
        throttled = () -> true;

        tickFor(Duration.ofSeconds(30));

        assertThat(results).filteredOn(Result.LOST::equals).hasSize(1_000);
        assertThat(results).filteredOn(Result.FAILED::equals).hasSizeBetween(7_000, 8_000);
        log.info("{} requests while throttled", batches.size());
        assertThat(batches).hasSizeBetween(700, 1_100);
        batches.clear();
        tickFor(Duration.ofMinutes(5));
        assertThat(batches).isEmpty();
    }

    /** Trap: a window of 5 s or less gave a negative interval. */
    @ParameterizedTest
    @CsvSource({"1, 2.2", "2, 1.01", "5, 0.45", "43200, 0.00006"})
    void windowsOfAnyLengthAreRenewedInTimeAndNoOftenerThanEachSecond(long window, double mostPerSecond) {
        Duration ticking = Duration.ofSeconds(Math.min(20 * window, 40_000));
        renewer.start(orders(window), "handle", clock.nanoTime());

        tickFor(ticking);

        assertThat(results).isNotEmpty().containsOnly(Result.SUCCEEDED);
        assertThat(batches.size() / (double) ticking.toSeconds()).isLessThanOrEqualTo(mostPerSecond);
    }
}

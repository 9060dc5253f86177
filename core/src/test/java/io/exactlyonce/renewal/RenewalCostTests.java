package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the requests that renew messages of one queue. The messages are received ten at a time, and the schedule is
 * the default.
 */
class RenewalCostTests {

    private static final Logger log = LoggerFactory.getLogger(RenewalCostTests.class);

    private final RenewalRig rig = new RenewalRig(new RenewalSchedule(0.5, 0.1));
    private final List<Integer> batches = new ArrayList<>();
    private final QueueVisibility queue = this::count;
    private boolean throttled;

    @BeforeEach
    void jitter() {
        rig.random = new Random(4)::nextDouble;
    }

    /** Counts one request for every ten changes, as the SQS adapter sends them. */
    private CompletableFuture<QueueVisibility.Answers> count(List<QueueVisibility.Change> changes) {
        for (int from = 0; from < changes.size(); from += 10) {
            batches.add(Math.min(10, changes.size() - from));
        }
        QueueVisibility.Result answer = throttled ? QueueVisibility.Result.FAILED : QueueVisibility.Result.CHANGED;
        return CompletableFuture.completedFuture(new QueueVisibility.Answers(
                changes.stream().collect(Collectors.toMap(QueueVisibility.Change::receiptHandle, change -> answer))));
    }

    private void receive(int messages, Duration betweenPolls, long timeout) {
        for (int message = 0; message < messages; message++) {
            if (message % 10 == 0) {
                rig.tickFor(betweenPolls);
            }
            rig.start(queue, "handle-" + message, timeout);
        }
    }

    /**
     * The test compares with one timer per message. Such a timer sends a request for its message alone, at 0.45 to 0.5
     * of the visibility timeout.
     */
    @ParameterizedTest
    @CsvSource({"10, 30, 0.1", "100, 30, 0.1", "100, 30, 1.5", "1000, 30, 0.1", "100, 2, 0.1", "100, 300, 5"})
    void messagesOfAQueueShareRequests(int messages, long timeout, double secondsBetweenPolls) {
        receive(messages, Duration.ofMillis((long) (secondsBetweenPolls * 1_000)), timeout);
        rig.tickFor(Duration.ofSeconds(timeout));
        batches.clear();
        rig.visibilityResults.clear();

        Duration measured = Duration.ofSeconds(20 * timeout);
        rig.tickFor(measured);

        double messageMinutes = messages * measured.toSeconds() / 60.0;
        double ours = batches.size() / messageMinutes;
        double oneTimerEach = 60 / Math.max(1, timeout * 0.475);
        log.info(
                "{} messages, visibility timeout {} s, a poll each {} s: {} requests per message-minute; one timer per message: {}",
                messages,
                timeout,
                secondsBetweenPolls,
                String.format("%.3f", ours),
                String.format("%.3f", oneTimerEach));
        assertThat(rig.visibilityResults).containsOnly(Result.SUCCEEDED);
        assertThat(rig.visibilityResults.size() / messageMinutes).isLessThan(oneTimerEach * 1.1);
        assertThat(ours).isLessThan(oneTimerEach * 0.15);
    }

    /** Trap: failed renewals that are all repeated at once make the throttling worse. */
    @Test
    void throttledQueueIsNotStormed() {
        receive(1_000, Duration.ofMillis(100), 30);
        rig.tickFor(Duration.ofSeconds(3));
        assertThat(batches).isEmpty();
        throttled = true;

        rig.tickFor(Duration.ofSeconds(30));

        assertThat(rig.visibilityResults).filteredOn(Result.LOST::equals).hasSize(1_000);
        assertThat(rig.visibilityResults).filteredOn(Result.FAILED::equals).hasSizeBetween(7_000, 8_000);
        log.info("{} requests while throttled", batches.size());
        assertThat(batches).hasSizeBetween(700, 1_100);
        batches.clear();
        rig.tickFor(Duration.ofMinutes(5));
        assertThat(batches).isEmpty();
    }

    /** Trap: a visibility timeout of 5 s or less gave a negative interval. */
    @ParameterizedTest
    @CsvSource({"1, 2.2", "2, 1.01", "5, 0.45", "43200, 0.00006"})
    void visibilityTimeoutsOfAnyLengthAreRenewedInTimeAndNoOftenerThanEachSecond(long timeout, double mostPerSecond) {
        Duration ticking = Duration.ofSeconds(Math.min(20 * timeout, 40_000));
        rig.start(queue, "handle", timeout);

        rig.tickFor(ticking);

        assertThat(rig.visibilityResults).isNotEmpty().containsOnly(Result.SUCCEEDED);
        assertThat(batches.size() / (double) ticking.toSeconds()).isLessThanOrEqualTo(mostPerSecond);
    }
}

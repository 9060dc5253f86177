package io.exactlyonce.observed;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.observed.ObservedCounts.Seen;
import io.exactlyonce.observed.ObservedCounts.SeenKey;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ListenerQueue;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class ObservedCountsTests {

    private static final ListenerQueue ORDERS = new ListenerQueue("fulfilment", "orders");
    private static final ClaimKey KEY = new ClaimKey("orders", "card-4711");

    private final FakeClock clock = new FakeClock();
    private final ObservedCounts counts = new ObservedCounts(clock);

    private static int lines(CapturedOutput output) {
        return (int)
                output.getOut().lines().filter(line -> line.contains(" WARN ")).count();
    }

    private Seen only() {
        assertThat(counts.all()).hasSize(1);
        return counts.all().get(0);
    }

    private static ClaimKey key(int number) {
        return new ClaimKey("orders", "o" + number);
    }

    @Test
    void eachKindIsSaidOnceAnHourOfEachListenerWithTheKeysHash(CapturedOutput output) {
        for (int delivery = 0; delivery < 100; delivery++) {
            counts.observed(ORDERS, KEY, ObservedOutcome.ALONE);
            counts.observed(ORDERS, KEY, ObservedOutcome.DUPLICATE);
            counts.observed(ORDERS, KEY, ObservedOutcome.OVERLAP);
            counts.observed(new ListenerQueue("fulfilment", "returns"), KEY, ObservedOutcome.OVERLAP);
            clock.advance(Duration.ofSeconds(35));
        }
        assertThat(lines(output)).isEqualTo(3);

        clock.advance(Duration.ofHours(1));
        counts.observed(ORDERS, KEY, ObservedOutcome.DUPLICATE);

        assertThat(lines(output)).isEqualTo(4);
        assertThat(output)
                .contains("The handler of listener 'fulfilment' on queue 'orders' for orders/" + KEY.keyHash()
                        + " ran although its effect had happened: it would not have been called")
                .contains("ran beside another handler of its key")
                .doesNotContain("card-4711");
    }

    @Test
    void databaseThatIsAwayIsSaidOnceWhateverItKeepsFromBeingObserved(CapturedOutput output) {
        counts.unavailable(new IllegalStateException("connection refused"));
        counts.unavailable(new IllegalStateException("connection refused"));
        for (NotObserved reason :
                List.of(NotObserved.STORE, NotObserved.OUTCOME, NotObserved.SKIPPED, NotObserved.UNPROTECTED)) {
            counts.notObserved(ORDERS, reason, null);
            counts.notObserved(new ListenerQueue("shipping", "parcels"), reason, null);
        }

        assertThat(lines(output)).isOne();
        assertThat(output).contains("The claim store does not answer").contains("connection refused");
    }

    @Test
    void messageThatCannotBeObservedIsLoggedWithItsReason(CapturedOutput output) {
        counts.notObserved(ORDERS, NotObserved.KEY, new UnusableKeyException("The key expression '#o.id' is null"));
        counts.notObserved(ORDERS, NotObserved.KEY, new UnusableKeyException("another"));
        counts.notObserved(ORDERS, NotObserved.OVERLOAD, null);

        assertThat(lines(output)).isEqualTo(2);
        assertThat(output)
                .contains("A message of listener 'fulfilment' on queue 'orders' has no usable key")
                .contains("The key expression '#o.id' is null")
                .contains("the maximum number of observations was pending");
    }

    /** A key expression may call beans of the application, whose exceptions may quote a message. */
    @Test
    void reasonIsOneShortLine(CapturedOutput output) {
        String hostile = "told\nFORGED 1\r\nFORGED 2\u0085FORGED 3\u2028 \u001b[2J\u202e" + "x".repeat(1 << 20);
        counts.notObserved(ORDERS, NotObserved.KEY, new UnusableKeyException(hostile));

        assertThat(output.getOut().lines())
                .noneMatch(line -> line.startsWith("FORGED"))
                .allMatch(line -> line.length() < 2_000);
        assertThat(output)
                .doesNotContain("\u0085", "\u2028", "\u001b", "\u202e")
                .contains("told FORGED 1");
    }

    @Test
    void listenerThatIsObservedLogsIt(CapturedOutput output) {
        counts.observing(ORDERS);

        assertThat(output)
                .contains("Only observed: listener 'fulfilment' on queue 'orders'")
                .contains("mode=enforce");
    }

    @Test
    void doubleEffectsAreCountedSinceTheStart() {
        counts.observed(ORDERS, key(1), ObservedOutcome.DUPLICATE);
        assertThat(only().summary()).isEqualTo("would have prevented 1 double effect since startup");
        clock.advance(Duration.ofDays(400));
        counts.observed(ORDERS, key(2), ObservedOutcome.OVERLAP);
        counts.observed(ORDERS, key(3), ObservedOutcome.TAKEOVER);
        counts.notObserved(ORDERS, NotObserved.KEY, null);

        assertThat(only().summary()).isEqualTo("would have prevented 2 double effects since startup");
        assertThat(only().sinceStart())
                .containsEntry("duplicate", 1L)
                .containsEntry("overlap", 1L)
                .containsEntry("takeover", 1L)
                .containsEntry("alone", 0L);
        assertThat(only().unobserved()).containsEntry("key", 1L).containsEntry("store", 0L);
    }

    @Test
    void latestKeysAreRememberedAndThoseThatRanAloneAreNot() {
        counts.observed(ORDERS, key(0), ObservedOutcome.ALONE);
        for (int number = 1; number <= ObservedCounts.MOST_KEYS + 5; number++) {
            counts.observed(ORDERS, key(number), ObservedOutcome.TAKEOVER);
        }
        counts.observed(ORDERS, key(10), ObservedOutcome.OVERLAP);
        clock.advance(Duration.ofMillis(3_040));

        assertThat(only().keys())
                .hasSize(ObservedCounts.MOST_KEYS)
                .startsWith(
                        new SeenKey(key(10).keyHash(), "overlap", 2, 3),
                        new SeenKey(key(ObservedCounts.MOST_KEYS + 5).keyHash(), "takeover", 1, 3))
                .noneMatch(seen ->
                        seen.key().equals(key(0).keyHash()) || seen.key().equals(key(5).keyHash()));
    }

    @Test
    void listenersAreInOrderAndShownBeforeTheirFirstMessage() {
        counts.observing(new ListenerQueue("shipping", "parcels"));
        counts.observing(ORDERS);
        counts.observing(new ListenerQueue("shipping", "letters"));

        assertThat(counts.all())
                .extracting(seen -> seen.listener() + " " + seen.queue())
                .containsExactly("fulfilment orders", "shipping letters", "shipping parcels");
        assertThat(counts.all().get(0).sinceStart())
                .containsOnlyKeys("alone", "duplicate", "overlap", "takeover", "mismatch", "parked");
        assertThat(counts.all().get(0).unobserved())
                .containsOnlyKeys("key", "message", "store", "outcome", "overload", "skipped", "unprotected");
    }
}

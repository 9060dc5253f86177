package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A claim that gets no answer is repeated in place, with the same id, while its listener pauses. */
@ExtendWith(OutputCaptureExtension.class)
class StoreOutageTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final DeliveryPipeline pipeline = rig.pipeline();

    @BeforeEach
    void letTheTimerWait() {
        rig.timer.hold();
    }

    private Delivery asking(Subscription subscription, String key, String handle, int receiveCount) {
        return DeliveryRig.asking(
                rig.receive(subscription, handle, receiveCount),
                new ClaimSpec(new ClaimKey("orders", key), null, InDoubtSettings.RERUN));
    }

    private CompletableFuture<Void> claim(Delivery... deliveries) {
        return pipeline.claim(List.of(deliveries));
    }

    /** Lets time pass. Renewals, lookups and repeated claims run every half second. */
    private void pass(Duration duration) {
        for (long half = duration.toMillis() / 500; half > 0; half--) {
            rig.clock.advance(Duration.ofMillis(500));
            rig.renewer.tick();
            rig.waiting().tick();
            rig.timer.run();
        }
    }

    /** Makes this number of claims fail, while the store answers other claims. */
    private void failAlone(int times, RuntimeException failure) {
        for (int time = 0; time < times; time++) {
            rig.store.onClaim(() -> {
                rig.breaker.answered();
                throw failure;
            });
        }
    }

    private void pause() {
        for (int failure = 0; failure < 3; failure++) {
            rig.breaker.unanswered(refused());
        }
    }

    private static IllegalStateException refused() {
        return new IllegalStateException("connection refused");
    }

    @Test
    void listenersPauseAfterThreeFailuresInARowAndSayWhy(CapturedOutput output) {
        rig.breaker.subscribe(rig.orders);
        rig.breaker.subscribe(rig.subscription("parcels", new ScriptedQueue()));
        rig.store.failClaims(true);

        claim(asking(rig.orders, "A-1", "one", 1));
        rig.timer.run();
        assertThat(rig.breaker.permitsPolling()).isTrue();
        rig.timer.run();

        assertThat(rig.breaker.permitsPolling()).isFalse();
        assertThat(output)
                .contains("'orders' is paused: 3 claims in a row", "'parcels' is paused", "no space left on device");
    }

    @Test
    void answerInBetweenBeginsTheCountAnew() {
        rig.breaker.unanswered(refused());
        rig.breaker.unanswered(refused());
        claim(asking(rig.orders, "A-1", "one", 1));
        rig.breaker.unanswered(refused());
        rig.breaker.unanswered(refused());

        assertThat(rig.breaker.isPaused()).isFalse();
    }

    /** A refusal is an answer, so three refusals in a row are not an outage. */
    @Test
    void requestThatIsRefusedForGoodIsReturnedAtOnceAndPausesNoListener(CapturedOutput output) {
        for (int i = 0; i < 3; i++) {
            rig.store.refuseClaims(1, new IllegalArgumentException("NUL"));
            Delivery delivery = asking(rig.orders, "A-" + i, "handle " + i, 1);
            assertThat(claim(delivery)).isCompleted();
            assertThat(rig.settle(delivery)).isFalse();
        }

        assertThat(rig.breaker.isPaused()).isFalse();
        assertThat(rig.store.claimCalls()).isEqualTo(3);
        assertThat(rig.returns()).containsExactly(4, 4, 4);
        assertThat(output).contains("cannot be claimed", "NUL");
    }

    /** The server's error text may quote the key, and a sender may cause many refusals. */
    @Test
    void refusedKeyIsLoggedInOneLineForTheFirstReceiveOnly(CapturedOutput output) {
        String hostile = "told\nFORGED\u0085 \u001b[2J\u202e" + "x".repeat(1 << 20);
        for (int receive = 1; receive <= 5; receive++) {
            rig.store.refuseClaims(1, new IllegalArgumentException(hostile, new IllegalStateException("card-4711")));
            Delivery delivery = asking(rig.orders, "A-1", "handle", receive);
            claim(delivery);
            rig.settle(delivery);
        }

        assertThat(output.getOut().lines().filter(line -> line.contains("cannot be claimed: told FORGED")))
                .hasSize(1)
                .allMatch(line -> line.length() < 2_000);
        assertThat(output).doesNotContain("card-4711", "\nFORGED", "\u0085", "\u001b", "\u202e", "\tat ");
    }

    /** Promise P13: an outage uses up no receive, and the first handler after the outage sees attempt 1. */
    @Test
    void claimsThatFailUseNoReceiveUpAndContinueWithTheFirstThatIsAnswered(CapturedOutput output) throws Throwable {
        rig.breaker.subscribe(rig.orders);
        rig.store.failClaims(true);
        Delivery one = asking(rig.orders, "A-1", "one", 1);
        Delivery two = asking(rig.orders, "A-2", "two", 3);
        CompletableFuture<Void> claimed = claim(one, two);

        pass(Duration.ofMinutes(10));
        assertThat(claimed).isNotDone();
        assertThat(rig.returns()).as("renewals only").containsOnly(30);
        assertThat(rig.orders.levels().waiting()).hasValue(2);
        rig.store.failClaims(false);
        pass(Duration.ofSeconds(1));

        assertThat(claimed).isCompleted();
        assertThat(rig.store.claims())
                .extracting(ClaimRequest::id)
                .as("the same ids all the time")
                .containsOnly(one.attempt().id(), two.attempt().id());
        assertThat(one.attempt().claim().attempt()).isOne();
        assertThat(rig.orders.levels().waiting()).hasValue(0);
        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(rig.asked).as("told once").hasSize(1);
        assertThat(output).contains("'orders' polls again: the claim store answers");
    }

    @Test
    void pausesBetweenRepeatsGrowUpToTwoSeconds() {
        rig.store.failClaims(true);
        claim(asking(rig.orders, "A-1", "one", 1));

        for (int repeat = 0; repeat < 9; repeat++) {
            rig.timer.run();
        }

        assertThat(rig.timer.delays()).hasSize(10).allMatch(delay -> delay.compareTo(Duration.ofMillis(2_050)) <= 0);
        assertThat(rig.timer.delays().get(0)).isLessThan(Duration.ofMillis(200));
        assertThat(rig.timer.delays().get(9)).isGreaterThan(Duration.ofMillis(900));
    }

    /**
     * Only the claim of this message fails. The message is returned with backoff. The claim may exist in the store, so
     * the engine releases it.
     */
    @Test
    void claimThatAloneFailsIsGivenUpAfterAFewTriesAndItsReceivesAreSpared(CapturedOutput output) {
        failAlone(3, refused());
        Delivery delivery = asking(rig.orders, "A-1", "one", 1);
        CompletableFuture<Void> claimed = claim(delivery);
        rig.timer.run();
        rig.timer.run();

        assertThat(claimed).isCompleted();
        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimResolution.Released(delivery.attempt().id(), "the claim got no answer", false));
        rig.assertReturned(delivery, 4);
        assertThat(rig.asked).as("what observers are told").containsExactly("connection refused");
        assertThat(output).contains("got no answer").doesNotContain("cannot be claimed");
    }

    /**
     * Trap: a request that was sent during the outage may fail after the outage, because its connection times out late.
     */
    @Test
    void attemptThatBeganInTheOutageAndFailsAfterItsEndCostsNoReceive() {
        rig.store.failClaims(true);
        Delivery delivery = asking(rig.orders, "A-1", "one", 1);
        CompletableFuture<Void> claimed = claim(delivery);
        pass(Duration.ofSeconds(10));
        rig.store.failClaims(false);
        rig.store.refuseClaims(1, refused());
        rig.breaker.answered();

        pass(Duration.ofSeconds(5));

        assertThat(claimed).isCompleted();
        assertThat(delivery.attempt().isReady()).isTrue();
    }

    /** A return would move the message to the dead-letter queue untried. */
    @Test
    void claimOnTheLastReceiveIsRepeatedAlthoughOthersAreAnswered() {
        Delivery last = DeliveryRig.asking(rig.receiveLast());
        failAlone(5, refused());

        CompletableFuture<Void> claimed = claim(last);
        pass(Duration.ofSeconds(5));

        assertThat(claimed).isCompleted();
        assertThat(last.attempt().isReady()).isTrue();
    }

    /** Promise P15: a listener that stops during an outage returns its messages when the next attempt fails. */
    @Test
    void listenerThatStopsDuringAnOutageReturnsItsDeliveriesInFlightWithTheNextAttempt() {
        rig.store.failClaims(true);
        Delivery delivery = asking(rig.orders, "A-1", "one", 1);
        CompletableFuture<Void> claimed = claim(delivery);
        pass(Duration.ofSeconds(10));

        rig.deliveries().beginStop(rig.orders);
        assertThat(claimed).isNotDone();
        rig.timer.run();

        assertThat(claimed).isCompleted();
        rig.assertReturned(delivery, 4);
        assertThat(rig.orders.levels().waiting()).hasValue(0);
        assertThat(rig.renewer.renewedCount()).isZero();
    }

    /**
     * Trap: one claim that keeps failing could make all other listeners wait, although the store answers their claims.
     */
    @Test
    void answerToOneClaimResumesThoseOfAllAndTheOneThatFailsAloneIsReturned() {
        rig.store.failClaims(true);
        Delivery failing = asking(rig.orders, "A-1", "failing", 1);
        Delivery other = asking(rig.orders, "A-2", "other", 1);
        CompletableFuture<Void> first = claim(failing);
        CompletableFuture<Void> second = claim(other);
        pass(Duration.ofSeconds(30));
        rig.store.failClaims(false);
        answerClaims(failing.attempt().id());

        for (int poll = 0; poll < 4; poll++) {
            pass(Duration.ofSeconds(3));
            claim(asking(rig.orders, "B-" + poll, "poll " + poll, 1));
        }

        assertThat(second).isCompleted();
        assertThat(other.attempt().isReady()).isTrue();
        assertThat(first).isCompleted();
        assertThat(failing.attempt().isAcquired()).isFalse();
        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    private void answerClaims(ClaimId failing) {
        rig.store.onClaim(() -> {
            answerClaims(failing);
            List<ClaimRequest> claims = rig.store.claims();
            if (claims.get(claims.size() - 1).id().equals(failing)) {
                throw new IllegalStateException("could not read block 7");
            }
            return new Acquired(1, 1, false);
        });
    }

    /**
     * If no delivery is in flight, a trial poll tests the store: after one second, two, four, and so on up to thirty.
     */
    @Test
    void pollsOnTrialComeLessAndLessOften() {
        pause();

        int trials = 0;
        for (int second = 0; second < 600; second++) {
            rig.clock.advance(Duration.ofSeconds(1));
            if (rig.breaker.permitsPolling()) {
                trials++;
                rig.breaker.unanswered(refused());
                assertThat(rig.breaker.permitsPolling()).isFalse();
            }
        }

        assertThat(trials).isBetween(20, 25);
        assertThat(rig.breaker.isPaused()).isTrue();
    }

    @Test
    void pollingThreadIsWokenWhenTheStoreIsBack() throws Exception {
        assertThat(rig.breaker.awaitPolling(Duration.ofSeconds(20))).isTrue();
        pause();
        assertThat(rig.breaker.awaitPolling(Duration.ofMillis(1))).isFalse();

        CompletableFuture<Boolean> polling = CompletableFuture.supplyAsync(() -> {
            try {
                return rig.breaker.awaitPolling(Duration.ofSeconds(20));
            } catch (InterruptedException stopping) {
                throw new IllegalStateException(stopping);
            }
        });
        await().during(Duration.ofMillis(50)).until(() -> !polling.isDone());
        rig.breaker.answered();

        assertThat(polling.get(10, TimeUnit.SECONDS)).isTrue();
    }
}

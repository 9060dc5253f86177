package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.COMPLETABLE_FUTURE;

import io.exactlyonce.BatchResult;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.InDoubtSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Batches of a standard queue: the messages that the handler gets, and the outcome of each message. */
class BatchPipelineTests {

    private static final Acquired ACQUIRED = new Acquired(1, 1, false);

    private final DeliveryRig rig = new DeliveryRig();
    private final List<String> handed = new ArrayList<>();
    private List<Delivery> batch = List.of();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void batchIsClaimedRenewedHandledAndCompletedInOneCallEachAndEachMessageIsMeasured() throws Throwable {
        rig.process(items("a", "b", "c"), acquired -> {
            handle(acquired);
            rig.tickFor(Duration.ofSeconds(60));
            acquired.forEach(item -> item.attempt().claim().ensureHeld());
        });
        List<Integer> acknowledged = rig.settle(batch);
        batch.forEach(rig.deliveries()::acknowledged);

        assertThat(handed).containsExactly("a", "b", "c");
        assertThat(acknowledged).containsExactly(0, 1, 2);
        assertThat(rig.store.claimCalls()).isOne();
        assertThat(rig.store.renewals())
                .allSatisfy(renewals -> assertThat(renewals).hasSize(3));
        assertThat(rig.store.completionCalls()).isOne();
        assertThat(rig.store.completions())
                .containsExactlyInAnyOrderElementsOf(rig.store.claimed().stream()
                        .map(id -> new ClaimResolution.Completed(id, null))
                        .toList());
        assertThat(rig.outcomes).hasSize(3);
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(60));
        assertThat(rig.delivered).hasSize(3).containsOnly(Duration.ofSeconds(60));
    }

    /** The value of the future belongs to the whole batch, so it is not stored as the result of any message. */
    @Test
    void resultOfABatchIsKeptWithNoneOfItsKeys() throws Throwable {
        var ended = DeliveryRig.process(
                rig.pipeline(), items("a", "b"), claimed -> CompletableFuture.completedFuture("shipped"));

        assertThat(ended).asInstanceOf(COMPLETABLE_FUTURE).isCompletedWithValue(null);
        assertThat(rig.store.completions())
                .extracting(ClaimResolution.Completed::result)
                .containsExactly(null, null);
    }

    @Test
    void onlyWhatIsAcquiredIsHandedToTheHandlerAndEachOtherMessageEndsAsIfItWereAlone() throws Throwable {
        rig.store.answer(
                new AlreadyCompleted(null),
                ACQUIRED,
                new HeldElsewhere(Duration.ofSeconds(10)),
                new Parked(),
                new Mismatch(null),
                ACQUIRED);

        rig.process(items("a", "b", "c", "d", "e", "f"), this::handle);

        assertThat(handed).containsExactly("b", "f");
        assertThat(rig.settle(batch)).containsExactly(0, 1, 5);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.returns()).containsExactly(4, 4);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.outcomes).hasSize(6);
    }

    @Test
    void secondMessageOfAKeyWaitsForTheFirstAndIsThenADuplicate() throws Throwable {
        rig.store.answer(ACQUIRED, new HeldElsewhere(Duration.ofSeconds(20)));

        rig.process(items("a", "a"), this::handle);
        assertThat(rig.settle(batch)).containsExactly(0);
        assertThat(rig.deleted).isEmpty();

        rig.store.putState(DeliveryRig.key("a"), KeyState.completed(null));
        rig.waiting().tick();
        assertThat(rig.deleted).containsExactly(batch.get(1));
    }

    /**
     * If the message were visible before its claim is released, the next consumer would find the key held, and wait.
     */
    @Test
    void messageThatYieldsToItsGroupLeavesOnlyOnceItsClaimIsReleased() {
        rig.store.answer(new HeldElsewhere(Duration.ofSeconds(10)), ACQUIRED);
        List<Delivery> group = List.of(rig.receive("a", "group"), rig.receive("b", "group"));
        rig.pipeline().claim(group);
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;

        assertThat(rig.pipeline().admit(group)).isEmpty();

        assertThat(group.get(1).processed()).isNotDone();
        asked.forEach(Runnable::run);
        assertThat(rig.store.releases()).hasSize(1);
        assertThat(group.get(1).processed()).isCompleted();
    }

    @Test
    void groupStaysStoppedWhenAnotherOneIsStopped() {
        HeldElsewhere held = new HeldElsewhere(Duration.ofSeconds(10));
        rig.store.answer(held, held, ACQUIRED, ACQUIRED);
        List<Delivery> groups = List.of(
                rig.receive("a", "first"),
                rig.receive("b", "second"),
                rig.receive("c", "first"),
                rig.receive("d", "second"));
        rig.pipeline().claim(groups);

        assertThat(rig.pipeline().admit(groups)).isEmpty();

        assertThat(rig.store.releases()).hasSize(2);
    }

    /** The message was never claimed, so there is no claim to release. */
    @Test
    void messageWithoutAUsableKeyYieldsToItsGroup() {
        rig.store.answer(new HeldElsewhere(Duration.ofSeconds(10)));
        Delivery keyless = DeliveryRig.asking(rig.receive(), "group", null);
        List<Delivery> group = List.of(rig.receive("a", "group"), keyless);
        rig.pipeline().claim(group);

        assertThat(rig.pipeline().admit(group)).isEmpty();

        rig.assertReturned(keyless, 0);
        assertThat(rig.store.releases()).isEmpty();
    }

    /**
     * The stop holds back a message before the handler is called. Claims of later messages in its group are released
     * before the handler is called for other groups.
     */
    @Test
    void claimsBehindAMessageThatItsListenersStopTookAreReleasedBeforeTheHandlerIsCalled() {
        batch = List.of(
                rig.receive("over", "first"),
                rig.receive("head", "stopped"),
                rig.receive("behind", "stopped"),
                rig.receive("other", "last"));
        rig.pipeline().claim(batch);
        batch.get(0).stopHandler();
        rig.store.onRelease(requested -> {
            batch.get(1).holdClaimBack();
            return requested;
        });
        List<String> released = new ArrayList<>();

        assertThatThrownBy(() -> rig.pipeline().handle(batch, called -> {
                    handle(called);
                    released.addAll(released());
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly("other");
        assertThat(released).containsExactly("over", "behind");
    }

    /**
     * The handler's list leaves out message a, which was already completed. Indexes of the result refer to that list.
     */
    @Test
    void namedItemsAreRedeliveredAndTheOthersAreCompleted() {
        rig.store.answer(new AlreadyCompleted(null), ACQUIRED, ACQUIRED, ACQUIRED);
        BatchResult result = BatchResult.failed(1, new IOException("no carrier"));

        assertThat(rig.failureOf(items("a", "b", "c", "d"), claimed -> DeliveryRig.end(result, claimed)))
                .isInstanceOf(FailedItems.class);

        ClaimId failed = rig.store.claimed().get(2);
        assertThat(rig.store.releases())
                .containsExactly(new ClaimResolution.Released(failed, "java.io.IOException: no carrier", false, true));
        assertThat(rig.store.completions())
                .extracting(resolution -> resolution.claim().key().key())
                .containsExactly("b", "d");
        assertThat(rig.settle(batch)).containsExactly(0, 1, 3);
        assertThat(rig.returns()).containsExactly(4);
    }

    static Stream<Exception> exceptionThatNamesNoDeliveryOfTheBatchFailsAll() {
        RuntimeException cause = new IllegalStateException("no carrier");
        return Stream.of(
                new IOException("no network"),
                FailedItems.in(BatchResult.failed(0, cause).andFailed(2, cause), "The handler", 2));
    }

    @ParameterizedTest
    @MethodSource
    void exceptionThatNamesNoDeliveryOfTheBatchFailsAll(Exception thrown) {
        assertThat(rig.failureOf(items("a", "b"), failing(thrown))).isSameAs(thrown);

        assertThat(rig.store.releases()).hasSize(2).noneMatch(ClaimResolution.Released::inDoubt);
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.settle(batch)).isEmpty();
    }

    @Test
    void completionIsRepeatedAsLongAsOneMessageIsWanted() throws Throwable {
        rig.store.onComplete(requested -> {
            batch.get(0).abandon();
            throw new IllegalStateException("connection reset");
        });

        rig.process(items("a", "b"), this::handle);

        assertThat(rig.store.completionCalls()).isEqualTo(2);
        assertThat(rig.settle(batch)).containsExactly(0, 1);
    }

    @Test
    void claimThatIsLostInTheMiddleInterruptsTheHandlerOnceAndEachMessageIsJudgedByItsOwn() throws Throwable {
        rig.process(items("a", "b", "c"), acquired -> {
            rig.store.onRenew(requested -> without(requested, "b"));
            rig.tickFor(Duration.ofSeconds(10));
            assertThat(Thread.interrupted()).isTrue();
            batch.get(2).stopHandler();
            assertThat(Thread.interrupted()).isFalse();
            assertThatThrownBy(() -> acquired.get(1).attempt().claim().ensureHeld())
                    .isInstanceOf(ClaimLostException.class);
            acquired.get(0).attempt().claim().ensureHeld();
            rig.store.onComplete(requested -> without(requested, "b"));
        });

        assertThat(rig.lost).hasSize(1);
        assertThat(rig.store.completionCalls()).isOne();
        assertThat(rig.settle(batch)).containsExactly(0, 2);
        assertThat(rig.returns()).doesNotContain(4);
        assertThat(rig.store.releases()).isEmpty();
    }

    /** The engine cannot know which messages the handler finished before the interrupt. */
    @Test
    void handlerThatHeedsTheInterruptLeavesADoubtOnAllMessages() {
        assertThat(rig.failureOf(items("a", "b"), acquired -> {
                    batch.get(0).stopHandler();
                    new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases()).hasSize(2).allMatch(ClaimResolution.Released::inDoubt);
    }

    @Test
    void batchWhoseListenerHasStoppedIsNotStarted() {
        items("a", "b").forEach(Delivery::abandon);

        assertThat(rig.failureOf(batch, this::handle))
                .isInstanceOf(CancellationException.class)
                .hasMessageStartingWith("A batch of 2 messages was not started");

        assertThat(handed).isEmpty();
        assertThat(rig.store.claimCalls()).isZero();
    }

    /**
     * The second message is on its last receive, so a return would move that message to the dead-letter queue untried.
     */
    @Test
    void claimsOfABatchAreRepeatedWhileOneOfItsMessagesIsOnItsLastReceive() throws Throwable {
        ClaimSpec last = new ClaimSpec(DeliveryRig.key("b"), null, InDoubtSettings.RERUN);
        batch = List.of(rig.receive("a", ""), DeliveryRig.asking(rig.receiveLast(), "", last));
        rig.store.refuseClaims(5, new IllegalStateException("connection refused"));

        rig.process(batch, this::handle);

        assertThat(handed).containsExactly("a", "b");
        assertThat(rig.store.claimCalls()).isEqualTo(6);
        assertThat(rig.settle(batch)).containsExactly(0, 1);
    }

    private List<Delivery> items(String... keys) {
        batch = rig.receiveAll(keys);
        return batch;
    }

    private void handle(List<Delivery> acquired) {
        acquired.forEach(item -> handed.add(item.attempt().claim().key()));
    }

    private static DeliveryRig.BatchHandler failing(Exception thrown) {
        return acquired -> {
            throw thrown;
        };
    }

    private List<String> released() {
        return rig.store.releases().stream()
                .map(release -> release.claim().key().key())
                .toList();
    }

    private static Set<ClaimId> without(Set<ClaimId> requested, String key) {
        return requested.stream()
                .filter(claim -> !claim.key().key().equals(key))
                .collect(Collectors.toSet());
    }
}

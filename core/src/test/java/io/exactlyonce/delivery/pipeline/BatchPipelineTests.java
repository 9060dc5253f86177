package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.COMPLETABLE_FUTURE;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.Subscription;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Batches of a standard queue: who is handed to the handler, and what becomes of each message. */
class BatchPipelineTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<Integer> handed = new ArrayList<>();
    private int received;

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void batchIsClaimedHandledAndCompletedInOneCallEach() throws Throwable {
        process(items("a", "b", "c"));

        assertThat(handed).containsExactly(0, 1, 2);
        assertThat(rig.store.claimCalls()).isOne();
        assertThat(rig.store.claims()).extracting(ClaimRequest::key).containsExactly(key("a"), key("b"), key("c"));
        assertThat(rig.store.completionCalls()).isOne();
        assertThat(rig.store.completions())
                .containsExactlyInAnyOrderElementsOf(claimed().stream()
                        .map(id -> new ClaimEnd.Completed(id, null))
                        .toList());
        assertThat(acknowledged()).containsExactly(0, 1, 2);
        assertThat(rig.handled).hasSize(1);
        assertThat(rig.outcomes).hasSize(3);
    }

    /** What a batch's future ends with is no message's result. */
    @Test
    void resultOfABatchIsKeptWithNoneOfItsKeys() throws Throwable {
        var batch = items("a", "b");

        var ended = DeliveryRig.process(rig.pipeline(), batch, claimed -> CompletableFuture.completedFuture("shipped"));

        assertThat(ended).asInstanceOf(COMPLETABLE_FUTURE).isCompletedWithValue(null);
        assertThat(rig.store.completions())
                .extracting(ClaimEnd.Completed::result)
                .containsExactly(null, null);
    }

    @Test
    void handlerSeesTheClaimOfEachMessage() throws Throwable {
        answer(new Acquired(1, 5, false), new Acquired(3, 17, true));

        rig.process(items("a", "b"), acquired -> {
            assertThat(acquired.get(0).claim().key()).isEqualTo("a");
            assertThat(acquired.get(1).claim().key()).isEqualTo("b");
            assertThat(acquired.get(1).claim().attempt()).isEqualTo(3);
            assertThat(acquired.get(1).claim().fencingToken()).isEqualTo(17);
            assertThat(acquired.get(1).claim().isAmbiguous()).isTrue();
            acquired.forEach(item -> item.claim().ensureHeld());
        });

        assertThat(acknowledged()).containsExactly(0, 1);
    }

    @Test
    void onlyWhatIsAcquiredIsHandedToTheHandlerAndEachOtherMessageEndsAsIfItWereAlone() throws Throwable {
        answer(
                new AlreadyCompleted(null),
                new Acquired(1, 1, false),
                new HeldElsewhere(Duration.ofSeconds(10)),
                new Parked(),
                new Mismatch(null),
                new Acquired(1, 1, false));

        process(items("a", "b", "c", "d", "e", "f"));

        assertThat(handed).containsExactly(1, 5);
        assertThat(acknowledged()).containsExactly(0, 1, 5);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.returns()).containsExactly(4, 4);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.outcomes).hasSize(6);
    }

    @Test
    void handlerIsNotCalledForAnEmptyRemainder() throws Throwable {
        answer(new AlreadyCompleted(null), new HeldElsewhere(Duration.ofSeconds(10)));

        process(items("a", "b"));

        assertThat(handed).isEmpty();
        assertThat(rig.handled).isEmpty();
        assertThat(rig.store.completionCalls()).isZero();
        assertThat(acknowledged()).containsExactly(0);
    }

    @Test
    void secondMessageOfAKeyWaitsForTheFirstAndIsThenADuplicate() throws Throwable {
        answer(new Acquired(1, 1, false), new HeldElsewhere(Duration.ofSeconds(20)));

        process(items("a", "a"));
        assertThat(acknowledged()).containsExactly(0);
        assertThat(rig.deleted).isEmpty();

        rig.store.putState(key("a"), KeyState.completed(null));
        rig.waiting().tick();
        assertThat(rig.deleted).containsExactly(deliveries.get(1));
    }

    /** Or its next consumer would find the key held, and wait. */
    @Test
    void messageThatYieldsToItsGroupLeavesOnlyOnceItsClaimIsGivenBack() {
        answer(new HeldElsewhere(Duration.ofSeconds(10)), new Acquired(1, 1, false));
        List<Delivery> group = items("a", "b").stream()
                .map(each -> DeliveryRig.asking(each, "group", each.spec()))
                .toList();
        rig.pipeline().claim(group);
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;

        assertThat(rig.pipeline().admit(group)).isEmpty();

        assertThat(deliveries.get(1).left()).isNotDone();
        asked.forEach(Runnable::run);
        assertThat(rig.store.releases()).hasSize(1);
        assertThat(deliveries.get(1).left()).isCompleted();
    }

    /** It was never asked for, so that there is no claim to give back. */
    @Test
    void messageWithoutAUsableKeyYieldsToItsGroup() {
        answer(new HeldElsewhere(Duration.ofSeconds(10)));
        Delivery head = DeliveryRig.asking(receive(), "group", new ClaimSpec(key("a"), null, InDoubtPolicy.RERUN));
        Delivery keyless = DeliveryRig.asking(receive(), "group", null);
        rig.pipeline().claim(List.of(head, keyless));

        assertThat(rig.pipeline().admit(List.of(head, keyless))).isEmpty();
        rig.deliveries().settle(keyless);

        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.returns()).containsExactly(0);
    }

    /** The stop comes between admission and call; the rest of its group waits for no handler of another one. */
    @Test
    void claimsBehindAMessageThatItsListenersStopTookAreGivenBackBeforeTheHandlerIsCalled() {
        List<Delivery> batch = new ArrayList<>();
        for (Delivery each : items("over", "head", "behind", "other")) {
            String group = batch.isEmpty() || batch.size() == 3 ? "group " + batch.size() : "stopped";
            batch.add(DeliveryRig.asking(each, group, each.spec()));
        }
        rig.pipeline().claim(batch);
        batch.get(0).stopHandler();
        rig.store.onRelease(requested -> {
            batch.get(1).holdClaimBack();
            return requested;
        });
        List<ClaimKey> released = new ArrayList<>();

        assertThatThrownBy(() -> rig.pipeline().handle(batch, called -> {
                    called.forEach(each -> handed.add(batch.indexOf(each)));
                    rig.store
                            .releases()
                            .forEach(release -> released.add(release.claim().key()));
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly(3);
        assertThat(released).containsExactly(key("over"), key("behind"));
    }

    @Test
    void messageWithoutAUsableKeyIsReturnedAndTheOthersAreHandled() throws Throwable {
        List<Delivery> items = items("a", "b");
        Delivery keyless = receive();
        List<Delivery> all = List.of(items.get(0), DeliveryRig.asking(keyless, "", null), items.get(1));

        rig.process(all, acquired -> acquired.forEach(item -> handed.add(all.indexOf(item))));

        assertThat(handed).containsExactly(0, 2);
        assertThat(rig.store.claims()).hasSize(2);
        assertThat(acknowledged()).containsExactly(0, 1);
        assertThat(rig.deliveries().settle(keyless)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void batchOfMessagesWithoutKeysAsksTheStoreForNothing() throws Throwable {
        rig.process(List.of(DeliveryRig.asking(receive(), "", null)), this::handle);

        assertThat(handed).isEmpty();
        assertThat(rig.store.claimCalls()).isZero();
    }

    @Test
    void namedItemsComeAgainAndTheOthersAreCompleted() {
        BatchItemFailures failures = new BatchItemFailures();
        failures.add(1, new IOException("no carrier"));

        assertThatThrownBy(() -> rig.process(items("a", "b", "c"), failing(failures)))
                .isSameAs(failures);

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed().get(1), "java.io.IOException: no carrier", false));
        assertThat(rig.store.completions())
                .extracting(ClaimEnd.Completed::claim)
                .containsExactly(claimed().get(0), claimed().get(2));
        assertThat(acknowledged()).containsExactly(0, 2);
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void failedItemsAreRenewedNoMoreFromBeforeTheirClaimsAreReleased() {
        rig.store.onRelease(requested -> {
            rig.tickFor(Duration.ofSeconds(12));
            return requested;
        });

        assertThatThrownBy(() -> rig.process(items("a", "b"), failing(BatchItemFailures.of(1))))
                .isInstanceOf(BatchItemFailures.class);
        rig.tickFor(Duration.ofSeconds(12));

        assertThat(rig.store.releases()).hasSize(1);
        assertThat(rig.store.renewals())
                .as("only of the one whose completion is not answered yet")
                .allSatisfy(renewals -> assertThat(renewals)
                        .extracting(LeaseRenewal::claim)
                        .containsExactly(claimed().get(0)));
    }

    /** Indexes count in the list that the handler got. */
    @Test
    void namedItemIsFoundBehindOnesThatTheHandlerDidNotGet() {
        answer(new AlreadyCompleted(null), new Acquired(1, 1, false), new Acquired(1, 1, false));

        assertThatThrownBy(() -> rig.process(items("a", "b", "c"), failing(BatchItemFailures.of(1))))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::claim)
                .containsExactly(claimed().get(2));
        assertThat(acknowledged()).containsExactly(0, 1);
    }

    @Test
    void namedItemsAreFoundInAProxysWrapper() {
        assertThatThrownBy(() -> rig.process(
                        items("a", "b"), failing(new UndeclaredThrowableException(BatchItemFailures.of(0)))))
                .isInstanceOf(UndeclaredThrowableException.class);

        assertThat(acknowledged()).containsExactly(1);
    }

    @Test
    void anyOtherExceptionFailsAll() {
        assertAllFailAt(new IOException("no network"));
    }

    @Test
    void failuresThatNameNoDeliveryOrOneThatIsNotThereFailAll() {
        assertAllFailAt(new BatchItemFailures());
        assertAllFailAt(BatchItemFailures.of(0, 2));
    }

    private void assertAllFailAt(Exception thrown) {
        deliveries.clear();
        int releases = rig.store.releases().size();
        assertThatThrownBy(() -> rig.process(items("a", "b"), failing(thrown))).isSameAs(thrown);

        assertThat(rig.store.releases())
                .hasSize(releases + 2)
                .allSatisfy(release -> assertThat(release.ambiguous()).isFalse());
        assertThat(rig.store.completions()).isEmpty();
        assertThat(acknowledged()).isEmpty();
    }

    /** A crash between effect and completion looks the same to the store: the leases end, and the keys are in doubt. */
    @Test
    void completionWithoutAnAnswerLeavesClaimsAndMessagesToTheirEnds() throws Throwable {
        rig.store.onComplete(requested -> {
            deliveries.forEach(Delivery::abandon);
            throw new IllegalStateException("connection reset");
        });

        process(items("a", "b"));

        rig.tickFor(Duration.ofSeconds(12));
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(acknowledged()).isEmpty();
        assertThat(rig.returns()).as("of the end").doesNotContain(4);
        assertThat(rig.renewer.inFlight()).isZero();
    }

    @Test
    void completionIsRepeatedAsLongAsOneMessageIsWanted() throws Throwable {
        rig.store.onComplete(requested -> {
            deliveries.get(0).abandon();
            throw new IllegalStateException("connection reset");
        });

        process(items("a", "b"));

        assertThat(rig.store.completionCalls()).isEqualTo(2);
        assertThat(acknowledged()).containsExactly(0, 1);
    }

    @Test
    void claimThatIsLostInTheMiddleInterruptsTheHandlerOnceAndEachMessageIsJudgedByItsOwn() throws Throwable {
        rig.process(items("a", "b", "c"), acquired -> {
            rig.store.onRenew(requested -> without(requested, "b"));
            rig.clock.advance(Duration.ofSeconds(10));
            rig.renewer.tick();
            assertThat(Thread.interrupted()).isTrue();
            deliveries.get(2).stopHandler();
            assertThat(Thread.interrupted()).isFalse();
            assertThatThrownBy(() -> acquired.get(1).claim().ensureHeld()).isInstanceOf(ClaimLostException.class);
            acquired.get(0).claim().ensureHeld();
            rig.store.onComplete(requested -> without(requested, "b"));
        });

        assertThat(rig.lost).hasSize(1);
        assertThat(rig.store.completionCalls()).isOne();
        assertThat(acknowledged()).containsExactly(0, 2);
        assertThat(rig.returns()).doesNotContain(4);
        assertThat(rig.store.releases()).isEmpty();
    }

    /** It is not known how far it came with which message. */
    @Test
    void handlerThatHeedsTheInterruptLeavesADoubtOnAllMessages() {
        assertThatThrownBy(() -> rig.process(items("a", "b"), acquired -> {
                    deliveries.get(0).stopHandler();
                    new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .hasSize(2)
                .allSatisfy(release -> assertThat(release.ambiguous()).isTrue());
    }

    @Test
    void messageWhoseLeaseIsOverBeforeTheHandlerIsLeftOut() {
        rig.store.onClaim(() -> new Acquired(1, 1, false));
        rig.store.onClaim(() -> {
            deliveries.get(1).stopHandler();
            return new Acquired(1, 1, false);
        });

        assertThatThrownBy(() -> process(items("a", "b")))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("before the handler was called");

        assertThat(handed).containsExactly(0);
        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed().get(1), "the handler was not called", false));
        assertThat(acknowledged()).containsExactly(0);
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void batchWhoseListenerHasStoppedIsNotBegun() {
        List<Delivery> items = items("a", "b");
        deliveries.forEach(Delivery::abandon);

        assertThatThrownBy(() -> process(items))
                .isInstanceOf(CancellationException.class)
                .hasMessageStartingWith("A batch of 2 messages was not begun");

        assertThat(handed).isEmpty();
        assertThat(rig.store.claimCalls()).isZero();
    }

    @Test
    void messagesAreLeftWhenTheirBatchIsDone() throws Throwable {
        rig.process(
                items("a", "b"),
                acquired -> assertThat(deliveries)
                        .noneMatch(delivery -> delivery.left().isDone()));

        assertThat(deliveries).allMatch(delivery -> delivery.left().isDone());
    }

    @Test
    void deliveryIsMeasuredForEachMessageAndTheHandlerOnce() throws Throwable {
        rig.process(items("a", "b"), acquired -> rig.clock.advance(Duration.ofSeconds(3)));
        acknowledged();
        deliveries.forEach(rig.deliveries()::acknowledged);

        assertThat(rig.handled).containsExactly(Duration.ofSeconds(3));
        assertThat(rig.delivered).containsExactly(Duration.ofSeconds(3), Duration.ofSeconds(3));
    }

    @Test
    void windowsAndLeasesOfAllMessagesAreRenewedWhileTheHandlerRuns() throws Throwable {
        rig.process(items("a", "b"), acquired -> {
            rig.tickFor(Duration.ofSeconds(60));
            acquired.forEach(item -> item.claim().ensureHeld());
        });

        assertThat(acknowledged()).containsExactly(0, 1);
        assertThat(rig.store.renewals())
                .allSatisfy(renewals -> assertThat(renewals).hasSize(2));
    }

    private void process(List<Delivery> items) throws Throwable {
        rig.process(items, this::handle);
    }

    private void handle(List<Delivery> acquired) {
        acquired.forEach(item -> handed.add(deliveries.indexOf(item)));
    }

    private static DeliveryRig.BatchHandler failing(Exception thrown) {
        return acquired -> {
            throw thrown;
        };
    }

    private static ClaimOutcome refuse() {
        throw new IllegalArgumentException("The key has a character that PostgreSQL does not store");
    }

    /** To come again would be the end of the one, untried. */
    @Test
    void claimsOfABatchAreRepeatedWhileOneOfItsMessagesIsOnItsLastReceive() throws Throwable {
        List<Delivery> items = new ArrayList<>(items("a"));
        Subscription lastReceive =
                new Subscription("listener", "orders", rig.orders.window(), null, rig.queue, 1, PollGate.OPEN);
        Delivery last = rig.receive(lastReceive, "last", 1);
        deliveries.add(last);
        items.add(DeliveryRig.asking(last, "", new ClaimSpec(key("b"), null, InDoubtPolicy.RERUN)));
        for (int attempt = 0; attempt < 5; attempt++) {
            rig.store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
        }

        process(items);

        assertThat(handed).containsExactly(0, 1);
        assertThat(rig.store.claimCalls()).isEqualTo(6);
        assertThat(acknowledged()).containsExactly(0, 1);
    }

    private List<Delivery> items(String... keys) {
        List<Delivery> items = new ArrayList<>();
        for (String key : keys) {
            Delivery delivery = receive();
            deliveries.add(delivery);
            items.add(DeliveryRig.asking(delivery, "", new ClaimSpec(key(key), null, InDoubtPolicy.RERUN)));
        }
        return items;
    }

    private Delivery receive() {
        return rig.receive(rig.orders, "handle-" + ++received, 1);
    }

    private static ClaimKey key(String key) {
        return new ClaimKey("orders", key);
    }

    private void answer(ClaimOutcome... outcomes) {
        for (ClaimOutcome outcome : outcomes) {
            rig.store.onClaim(() -> outcome);
        }
    }

    private List<ClaimId> claimed() {
        return rig.store.claims().stream().map(ClaimRequest::id).distinct().toList();
    }

    private static Set<ClaimId> without(Set<ClaimId> requested, String key) {
        return requested.stream().filter(claim -> !claim.key().equals(key(key))).collect(Collectors.toSet());
    }

    /** Settles all, as the pipeline's end does; returns which of them are to be deleted. */
    private List<Integer> acknowledged() {
        return IntStream.range(0, deliveries.size())
                .filter(index -> rig.deliveries().settle(deliveries.get(index)))
                .boxed()
                .toList();
    }
}

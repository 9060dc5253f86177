package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.BatchResult;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueVisibility.Change;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;

/** Messages without a key, under each policy. */
@ExtendWith(OutputCaptureExtension.class)
class MissingKeyTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Claim unheld = Mockito.mock(Claim.class);
    private final List<Claim> handed = new ArrayList<>();

    private Delivery keyless(Delivery delivery, MissingKeyPolicy policy, String group) {
        delivery.attempt().specifyWithoutKey(policy, DeliveryRig.key(delivery.messageId()), unheld, group);
        return delivery;
    }

    private Delivery skipped() {
        return keyless(rig.receive(), MissingKeyPolicy.SKIP, "");
    }

    private Delivery unprotected() {
        return keyless(rig.receive(), MissingKeyPolicy.RUN_UNPROTECTED, "");
    }

    private Object process(List<Delivery> deliveries, Handler handler) throws Throwable {
        return DeliveryRig.process(rig.pipeline(), deliveries, called -> {
            called.forEach(delivery -> handed.add(delivery.attempt().handlersClaim()));
            return handler.handle(called);
        });
    }

    private Object process(List<Delivery> deliveries) throws Throwable {
        return process(deliveries, called -> null);
    }

    private static Object neverCalled(List<Delivery> called) {
        throw new AssertionError("called with " + called);
    }

    private void assertStoreWasNotCalled() {
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void refusedMessageIsReturnedWithBackoff() throws Throwable {
        Delivery delivery = keyless(rig.receive(), MissingKeyPolicy.REFUSE, "");

        process(List.of(delivery), MissingKeyTests::neverCalled);

        rig.assertReturned(delivery, 4);
        assertThat(rig.keysMissing).containsExactly(MissingKeyPolicy.REFUSE);
        assertStoreWasNotCalled();
    }

    @Test
    void skippedMessageIsDeletedWithoutItsHandlerAndTheStore() throws Throwable {
        Delivery delivery = skipped();

        process(List.of(delivery), MissingKeyTests::neverCalled);

        assertThat(delivery.processed()).isDone();
        assertThat(rig.settle(delivery)).isTrue();
        assertThat(rig.settled).containsExactly(DeliveryState.DELETING);
        assertThat(rig.keysMissing).containsExactly(MissingKeyPolicy.SKIP);
        assertThat(rig.handled).isEmpty();
        assertStoreWasNotCalled();
    }

    @Test
    void skippedMessageOfAStoppingListenerStays() {
        Delivery delivery = skipped();

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.pipeline().claim(List.of(delivery))).isCompleted();
        assertThat(rig.pipeline().admit(List.of(delivery))).isEmpty();
        rig.assertReturned(delivery, 0);
        assertThat(rig.keysMissing).isEmpty();
    }

    @Test
    void skippedMessageStopsNoOtherOfItsGroup() throws Throwable {
        Delivery first = keyless(rig.receive(rig.orders, "first", 1), MissingKeyPolicy.SKIP, "a");
        Delivery second = rig.receive("second", "a");

        process(List.of(first, second));

        assertThat(handed).containsExactly(second.attempt().claim());
        assertThat(rig.settle(List.of(first, second))).containsExactly(0, 1);
    }

    @Test
    void skippedMessageLeavesTheTransactionOfItsBatch() throws Throwable {
        List<Integer> sizes = new ArrayList<>();
        ClaimTransaction transaction = new ClaimTransaction() {
            @Override
            public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
                List<ClaimOutcome> acquired = List.of(new Acquired(1, 1, false));
                work.run(acquired);
                return acquired;
            }
        };
        Delivery skipped = keyless(rig.receive(rig.orders, "first", 1), MissingKeyPolicy.SKIP, "a");
        Delivery other = DeliveryRig.asking(
                rig.receive(rig.orders, "second", 1),
                "a",
                new ClaimSpec(DeliveryRig.KEY, null, InDoubtSettings.RERUN, transaction));

        rig.pipeline().handle(List.of(skipped, other), called -> {
            sizes.add(called.size());
            return null;
        });

        assertThat(sizes).containsExactly(1);
        assertThat(rig.settle(List.of(skipped, other))).containsExactly(0, 1);
        assertThat(rig.keysMissing).containsExactly(MissingKeyPolicy.SKIP);
    }

    @Test
    void unprotectedMessageIsHandledWithoutTheStoreAndDeleted() throws Throwable {
        Delivery delivery = unprotected();

        process(List.of(delivery));

        assertThat(handed).containsExactly(unheld);
        assertThat(delivery.isUnprotected()).isTrue();
        assertThat(rig.settle(delivery)).isTrue();
        assertThat(rig.keysMissing).containsExactly(MissingKeyPolicy.RUN_UNPROTECTED);
        assertThat(rig.handled).hasSize(1);
        assertStoreWasNotCalled();
    }

    @Test
    void unprotectedMessageStaysInvisibleWhileItsHandlerRuns() throws Throwable {
        Delivery delivery = unprotected();

        process(List.of(delivery), called -> {
            rig.tickFor(Duration.ofSeconds(50));
            assertThat(delivery.visibility().isInvisible()).isTrue();
            assertThat(delivery.attempt().mayWork()).isTrue();
            return null;
        });

        assertThat(rig.returns()).hasSizeGreaterThan(2).containsOnly(30);
        assertThat(rig.settle(delivery)).isTrue();
        assertStoreWasNotCalled();
    }

    @Test
    void unprotectedMessageWhoseVisibilityTimeoutIsOverIsNotHandled() {
        Delivery delivery = unprotected();
        rig.clock.advance(Duration.ofSeconds(31));

        assertThatThrownBy(() -> process(List.of(delivery), MissingKeyTests::neverCalled))
                .hasMessageContaining("before the handler was called");

        assertThat(rig.settle(delivery)).isFalse();
        assertStoreWasNotCalled();
    }

    @Test
    void failedUnprotectedMessageIsReturnedWithBackoffAndParksNothing(CapturedOutput output) {
        Delivery delivery = unprotected();
        IOException failure = new IOException("no carrier");

        assertThatThrownBy(() -> process(List.of(delivery), called -> {
                    throw failure;
                }))
                .isSameAs(failure);

        rig.assertReturned(delivery, 4);
        assertThat(output)
                .contains("failed with java.io.IOException (without a key, unprotected); next attempt in 4.0 s");
        assertStoreWasNotCalled();
    }

    @Test
    void unprotectedHandlerIsInterruptedAtItsTimeout() {
        Delivery delivery = keyless(rig.receiveLimited(Duration.ofSeconds(5)), MissingKeyPolicy.RUN_UNPROTECTED, "");

        assertThatThrownBy(() -> process(List.of(delivery), called -> {
                    rig.tickFor(Duration.ofSeconds(6));
                    assertThat(Thread.interrupted()).isTrue();
                    throw new IOException("gave up");
                }))
                .hasMessage("gave up");

        assertThat(rig.timedOut).hasSize(1);
        assertThat(rig.settle(delivery)).isFalse();
        assertStoreWasNotCalled();
    }

    @Test
    void eachMessageOfABatchIsJudgedByItself() {
        Delivery claimed = rig.receive("claimed", "");
        Delivery failing = keyless(rig.receive(rig.orders, "failing", 1), MissingKeyPolicy.RUN_UNPROTECTED, "");
        Delivery fine = keyless(rig.receive(rig.orders, "fine", 1), MissingKeyPolicy.RUN_UNPROTECTED, "");
        BatchResult second = BatchResult.failed(1, new IOException("no carrier"));

        assertThatThrownBy(() -> process(List.of(claimed, failing, fine), called -> second))
                .isInstanceOf(FailedItems.class);

        assertThat(handed).containsExactly(claimed.attempt().claim(), unheld, unheld);
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.settle(List.of(claimed, failing, fine))).containsExactly(0, 2);
        assertThat(rig.queue.changes()).containsExactly(new Change("failing", 4));
    }

    @Test
    void unprotectedMessageOfAFifoGroupIsHandledInItsTurn() throws Throwable {
        Delivery first = keyless(rig.receive(rig.orders, "first", 1), MissingKeyPolicy.RUN_UNPROTECTED, "a");
        Delivery second = rig.receive("second", "a");

        process(List.of(first, second));

        assertThat(handed).containsExactly(unheld, second.attempt().claim());
        assertThat(rig.settle(List.of(first, second))).containsExactly(0, 1);
    }

    @Test
    void unprotectedMessageOfAStoppingListenerIsVisibleAtOnce() throws Throwable {
        Delivery delivery = unprotected();
        rig.pipeline().claim(List.of(delivery)).join();

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.returns()).containsExactly(0);
        assertThat(rig.pipeline().admit(List.of(delivery))).isEmpty();
        assertStoreWasNotCalled();
    }

    @Test
    void unprotectedMessageThatAnInterceptorDropsIsReturned() {
        Delivery delivery = unprotected();
        rig.pipeline().claim(List.of(delivery)).join();

        rig.pipeline().releaseUnhandled(List.of(delivery));

        rig.assertReturned(delivery, 4);
        assertStoreWasNotCalled();
    }

    @Test
    void handlerOfAnUnprotectedMessageIsInterruptedWhenItsListenerIsOver() {
        Delivery delivery = unprotected();

        assertThatThrownBy(() -> process(List.of(delivery), called -> {
                    rig.deliveries().interruptHandlers(rig.orders);
                    assertThat(Thread.interrupted()).isTrue();
                    throw new IOException("gave up");
                }))
                .hasMessage("gave up");

        assertThat(rig.settle(delivery)).isFalse();
        assertStoreWasNotCalled();
    }

    @Test
    void futureOfAnUnprotectedMessageIsAwaited() throws Throwable {
        Delivery delivery = unprotected();
        CompletableFuture<Object> work = new CompletableFuture<>();

        Object answer = process(List.of(delivery), called -> work);

        assertThat(delivery.processed()).isNotDone();
        work.complete("done");
        assertThat(((CompletableFuture<?>) answer).join()).isNull();
        assertThat(rig.settle(delivery)).isTrue();
        assertStoreWasNotCalled();
    }

    @Test
    void cancelledFutureOfAnUnprotectedMessageReturnsIt(CapturedOutput output) throws Throwable {
        Delivery delivery = unprotected();
        CompletableFuture<Object> work = new CompletableFuture<>();
        CompletableFuture<?> answer = (CompletableFuture<?>) process(List.of(delivery), called -> work);

        delivery.stopHandler();

        assertThatThrownBy(answer::join).isInstanceOfAny(CompletionException.class, RuntimeException.class);
        assertThat(rig.settle(delivery)).isFalse();
        assertThat(output).contains("its work may continue beside that of the next delivery");
        assertStoreWasNotCalled();
    }
}

package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.UnexpectedRollbackException;

class TransactionalHandlerTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final List<ClaimRequest> requests = new ArrayList<>();
    private final List<String> results = new ArrayList<>();

    /** Grants the key, and commits. */
    private final DeliveryRig.SingleTransaction granting = (request, work) -> {
        requests.add(request);
        Acquired acquired = new Acquired(1, 17, false);
        results.add(work.run(acquired));
        return acquired;
    };

    private Object process(ClaimTransaction transaction, DeliveryRig.SingleHandler handler) throws Throwable {
        return process(delivery, transaction, handler);
    }

    private Object process(DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler)
            throws Throwable {
        return process(delivery, transaction, handler);
    }

    private Object process(
            Delivery received, DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler)
            throws Throwable {
        return process(received, DeliveryRig.single(transaction), handler);
    }

    private Object process(Delivery received, ClaimTransaction transaction, DeliveryRig.SingleHandler handler)
            throws Throwable {
        return rig.process(received, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, transaction), handler);
    }

    private static ClaimTransaction answering(ClaimOutcome outcome) {
        return DeliveryRig.single((request, work) -> outcome);
    }

    private List<Integer> returnsAfterSettling() {
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        return rig.returns();
    }

    @AfterEach
    void nothingIsAskedOfTheStoreAndNoInterruptIsLeftBehind() {
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void handlerDoesNotBeginWhenTheStopOfItsListenerIsFaster() throws Throwable {
        List<Throwable> rolledBack = new ArrayList<>();
        rig.whenClaimed = () -> rig.deliveries().beginStop(rig.orders);

        process(
                (request, work) -> {
                    try {
                        return granting.execute(request, work);
                    } catch (Throwable failure) {
                        rolledBack.add(failure);
                        throw failure;
                    }
                },
                DeliveryRig::neverCalled);

        assertThat(rolledBack).hasSize(1);
        assertThat(results).isEmpty();
        assertThat(rig.returns()).containsExactly(0);
        assertThat(delivery.left()).isDone();
    }

    @Test
    void committedDeliveryIsAcknowledgedAndMeasured() throws Throwable {
        Object result = process(granting, claim -> {
            rig.clock.advance(Duration.ofSeconds(3));
            return "shipped";
        });

        assertThat(result).isEqualTo("shipped");
        assertThat(results).containsExactly("\"shipped\"");
        assertThat(requests).singleElement().satisfies(request -> {
            assertThat(request.key()).isEqualTo(DeliveryRig.KEY);
            assertThat(request.owner()).isEqualTo("worker");
        });
        assertThat(rig.outcomes).containsExactly(new Acquired(1, 17, false));
        assertThat(rig.asked)
                .containsExactly(List.of(new Acquired(1, 17, false)).toString());
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(3));
        assertThat(delivery.left()).isDone();
        assertThat(rig.deliveries().settle(delivery)).isTrue();
        rig.deliveries().acknowledged(delivery);
        assertThat(rig.delivered).containsExactly(Duration.ofSeconds(3));
    }

    @Test
    void failureOfTheHandlerReturnsTheDelivery() {
        IOException failure = new IOException("no stock");

        assertThatThrownBy(() -> process(granting, claim -> {
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.handled).hasSize(1);
    }

    @Test
    void failureOfTheCommitReturnsTheDeliveryAndCallsTheHandlerOnce() {
        assertThatThrownBy(() -> process(
                        (request, work) -> {
                            work.run(new Acquired(1, 17, false));
                            throw new UnexpectedRollbackException("marked as rollback-only");
                        },
                        claim -> "shipped"))
                .isInstanceOf(UnexpectedRollbackException.class);

        assertThat(rig.handled).hasSize(1);
        assertThat(rig.asked)
                .as("the claim was answered, once")
                .containsExactly(List.of(new Acquired(1, 17, false)).toString());
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    /** The handler may have thrown anything: what counts is that there was no connection left to roll back on. */
    @Test
    void handlerWhoseTransactionLostItsConnectionIsCalledOnceMore() throws Throwable {
        AtomicInteger calls = new AtomicInteger();

        Object result = process(losing(1), claim -> {
            if (calls.incrementAndGet() == 1) {
                throw new IOException("writing the order failed");
            }
            return "shipped";
        });

        assertThat(result).isEqualTo("shipped");
        assertThat(calls).hasValue(2);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void handlerWhoseCommitLostItsConnectionIsCalledOnceMore() throws Throwable {
        assertThat(process(losing(1), claim -> "shipped")).isEqualTo("shipped");

        assertThat(rig.handled).hasSize(2);
    }

    /** A handler may break its connections by itself, and must not go on doing so for ever. */
    @Test
    void handlerWhoseConnectionIsLostAgainIsNotCalledAThirdTime() {
        Delivery last = rig.receive(lastReceive(), "last", 1);

        assertThatThrownBy(() -> rig.process(
                        last, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, losing(9)), claim -> "shipped"))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(requests).hasSize(2);
        assertThat(rig.deliveries().settle(last)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void handlerThatWasStoppedIsReturnedAlthoughItsConnectionIsLost() {
        assertThatThrownBy(() -> process(losing(1), claim -> {
                    delivery.stopHandler();
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(returnsAfterSettling()).containsExactly(4);
    }

    /** Grants the key; then the connection is lost, so often. */
    private DeliveryRig.SingleTransaction losing(int times) {
        return (request, work) -> {
            if (requests.size() >= times) {
                return granting.execute(request, work);
            }
            requests.add(request);
            try {
                work.run(new Acquired(1, 17, false));
            } catch (Exception failure) {
                throw new ClaimStoreUnavailableException("connection lost", failure);
            }
            throw new ClaimStoreUnavailableException("connection lost", null);
        };
    }

    @Test
    void transactionThatCannotBeginReturnsTheDelivery() {
        assertThatThrownBy(() -> process(
                        (request, work) -> {
                            throw new IllegalStateException("connection refused");
                        },
                        DeliveryRig::neverCalled))
                .hasMessage("connection refused");

        assertThat(rig.outcomes).isEmpty();
        assertThat(returnsAfterSettling()).containsExactly(4);
    }

    @Test
    void completedKeyIsAcknowledged() throws Throwable {
        assertThat(process(answering(new AlreadyCompleted("1")), DeliveryRig::neverCalled))
                .isNull();

        assertThat(rig.outcomes).containsExactly(new AlreadyCompleted("1"));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void keyHeldElsewhereWaitsForItsHolder() throws Throwable {
        process(answering(new HeldElsewhere(Duration.ofSeconds(20))), DeliveryRig::neverCalled);

        assertThat(rig.outcomes).containsExactly(new HeldElsewhere(Duration.ofSeconds(20)));
        assertThat(returnsAfterSettling()).isEmpty();
        assertThat(rig.renewer.inFlight()).isEqualTo(1);
    }

    /** Three failures in a row close the gate, and from then on it is repeated until the database answers. */
    @Test
    void claimWithoutAnAnswerIsRepeatedInPlaceUntilItIsAnswered() throws Throwable {
        ClaimTransaction late = rig.breakers.guard(answeringFrom(10), "manager");
        Delivery received = receivedFor(late);

        assertThat(process(received, late, claim -> "shipped")).isEqualTo("shipped");

        assertThat(rig.deliveries().settle(received)).isTrue();
        assertThat(rig.breakers.of(late).isPaused()).isFalse();
        assertThat(rig.breaker.permitsPolling()).as("the claim store's").isTrue();
        assertThat(received.subscription().levels().waiting()).hasValue(0);
        assertThat(rig.timer.delays()).hasSize(9);
    }

    /** Others are answered meanwhile, so that the message comes again, and its receives are spared. */
    @Test
    void claimThatAloneFailsIsGivenUpAfterAFewTries() throws Throwable {
        ClaimTransaction failing = DeliveryRig.single((request, work) -> {
            requests.add(request);
            rig.breaker.answered();
            throw new ClaimStoreUnavailableException("no answer", null);
        });

        assertThat(process(failing, DeliveryRig::neverCalled)).isNull();

        assertThat(requests).hasSize(Claims.FEW);
        assertThat(returnsAfterSettling()).containsExactly(4);
        assertThat(rig.orders.levels().waiting()).hasValue(0);
    }

    /** As when PostgreSQL refuses the commit of what was only read, for the sake of another transaction. */
    @Test
    void claimThatFailsForGoodAfterItWasRepeatedIsNotCountedAsWaitingAnyMore() {
        assertThatThrownBy(() -> process(
                        (request, work) -> {
                            requests.add(request);
                            if (requests.size() <= Claims.FEW) {
                                throw new ClaimStoreUnavailableException("no answer", null);
                            }
                            assertThat(rig.orders.levels().waiting()).hasValue(1);
                            throw new IllegalStateException("could not serialize access");
                        },
                        DeliveryRig::neverCalled))
                .hasMessage("could not serialize access");

        assertThat(rig.orders.levels().waiting()).hasValue(0);
        assertThat(returnsAfterSettling()).containsExactly(4);
    }

    private Delivery receivedFor(ClaimTransaction transaction) {
        return rig.receive(
                DeliveryRig.subscription("orders", rig.queue, rig.breakers.of(transaction)), "handle of a manager", 1);
    }

    /** Returns the test's own delivery first, and then more. */
    private Delivery deliveryAt(int index) {
        return index == 0 ? delivery : rig.receive(rig.orders, "handle " + index, 1);
    }

    /** To come again would be its end, untried. */
    @Test
    void claimOnTheLastReceiveIsRepeatedUntilItIsAnswered() throws Throwable {
        Delivery last = rig.receive(lastReceive(), "last", 1);
        ClaimTransaction late = answeringFrom(3);

        Object result =
                rig.process(last, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, late), claim -> "shipped");

        assertThat(result).isEqualTo("shipped");
        assertThat(rig.deliveries().settle(last)).isTrue();
    }

    @Test
    void claimOnTheLastReceiveIsNotRepeatedAnyMoreWhenItsListenerStops() throws Throwable {
        Delivery last = rig.receive(lastReceive(), "last", 1);
        ClaimTransaction stopping = DeliveryRig.single((request, work) -> {
            requests.add(request);
            last.abandon();
            throw new ClaimStoreUnavailableException("no answer", null);
        });

        rig.process(
                last, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, stopping), DeliveryRig::neverCalled);

        assertThat(requests).hasSize(1);
        assertThat(rig.asked).containsExactly("no answer");
    }

    @Test
    void claimIsNotRepeatedAnyMoreWhenItsListenerStops() throws Throwable {
        assertAskedOnceAfter(delivery::abandon);
    }

    /** It may be with another worker by then. */
    @Test
    void claimIsNotRepeatedAnyMoreWhenItsMessageIsVisible() throws Throwable {
        assertAskedOnceAfter(() -> rig.clock.advance(Duration.ofSeconds(31)));
    }

    private void assertAskedOnceAfter(Runnable event) throws Throwable {
        ClaimTransaction unanswered = DeliveryRig.single((request, work) -> {
            requests.add(request);
            assertThat(requests).hasSize(1);
            event.run();
            throw new ClaimStoreUnavailableException("no answer", null);
        });

        process(unanswered, DeliveryRig::neverCalled);

        assertThat(requests).hasSize(1);
    }

    private Subscription lastReceive() {
        return new Subscription("listener", "orders", rig.orders.window(), null, rig.queue, 1, PollGate.OPEN);
    }

    private ClaimTransaction answeringFrom(int attempt) {
        return DeliveryRig.single((request, work) -> {
            if (requests.size() + 1 < attempt) {
                requests.add(request);
                throw new ClaimStoreUnavailableException("no answer", null);
            }
            return granting.execute(request, work);
        });
    }

    @Test
    void failureForWhichTryingAgainIsOfNoUseParksTheKeyAfterTheRollback() {
        assertThatThrownBy(() -> processParkingFor(IllegalStateException.class, claim -> {
                    throw new IllegalStateException("card expired");
                }))
                .hasMessage("card expired");

        assertThat(rig.store.parkings()).singleElement().satisfies(parking -> {
            assertThat(parking.claim()).isEqualTo(rig.store.claims().get(0).id());
            assertThat(parking.reason()).contains("card expired");
        });
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
        rig = new DeliveryRig();
    }

    @Test
    void keyThatAnotherDeliveryHasCompletedAfterTheRollbackIsNotParked() {
        rig.store.onClaim(() -> new AlreadyCompleted(null));

        assertThatThrownBy(() -> processParkingFor(IllegalStateException.class, claim -> {
                    throw new IllegalStateException("card expired");
                }))
                .hasMessage("card expired");

        assertThat(rig.store.claims()).hasSize(1);
        assertThat(rig.store.parkings()).isEmpty();
        rig = new DeliveryRig();
    }

    @Test
    void keyThatAnotherWorkerTookOverIsNotToldAsParked() {
        rig.store.onPark(parked -> Set.of());

        assertThatThrownBy(() -> processParkingFor(IllegalStateException.class, claim -> {
                    throw new IllegalStateException("card expired");
                }))
                .hasMessage("card expired");

        assertThat(rig.store.parkings()).hasSize(1);
        assertThat(rig.parked).isEmpty();
        rig = new DeliveryRig();
    }

    /** Without an answer it is not known whether trying again is of use. */
    @Test
    void handlerThatGetsNoAnswerFromAnotherStoreIsNotParked() {
        assertThatThrownBy(() -> processParkingFor(Exception.class, claim -> {
                    throw new ClaimStoreUnavailableException("of another store", new IllegalStateException());
                }))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void handlerThatWasStoppedIsNotParked() {
        assertThatThrownBy(() -> processParkingFor(Exception.class, claim -> {
                    delivery.stopHandler();
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void handlerThatWasNotCalledIsNotParked() {
        delivery.stopHandler();

        assertThatThrownBy(() -> processParkingFor(Exception.class, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.parkings()).isEmpty();
    }

    private void processParkingFor(Class<? extends Throwable> type, DeliveryRig.SingleHandler handler)
            throws Throwable {
        InDoubtPolicy parking = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(type));
        rig.process(delivery, new ClaimSpec(DeliveryRig.KEY, null, parking, granting), handler);
    }

    @Test
    void handlerThatGetsNoAnswerFromAnotherStoreFails() {
        for (int failure = 0; failure < CircuitBreaker.FAILURES; failure++) {
            Delivery handled = deliveryAt(failure);
            assertThatThrownBy(() -> process(handled, rig.breakers.guard(granting, "manager"), claim -> {
                        throw new ClaimStoreUnavailableException("of another store", new IllegalStateException());
                    }))
                    .isInstanceOf(ClaimStoreUnavailableException.class);
        }

        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(returnsAfterSettling()).containsExactly(4);
    }

    @Test
    void parkedKeyIsReturned() throws Throwable {
        process(answering(new Parked()), DeliveryRig::neverCalled);

        assertThat(rig.outcomes).containsExactly(new Parked());
        assertThat(returnsAfterSettling()).containsExactly(4);
    }

    @Test
    void windowIsRenewedWhileTheHandlerRunsAndNoLease() throws Throwable {
        process(granting, claim -> {
            rig.clock.advance(Duration.ofSeconds(15));
            rig.renewer.tick();
            return null;
        });

        assertThat(rig.returns()).containsExactly(30);
    }

    @Test
    void timeoutEndsWithTheHandlerSoThatItsMessageIsRenewedUntilItsDeleteIsConfirmed() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        process(limited, granting, claim -> {
            rig.tickFor(Duration.ofSeconds(3));
            return "shipped";
        });
        assertThat(rig.deliveries().settle(limited)).isTrue();
        rig.tickFor(Duration.ofSeconds(60));

        assertThat(rig.timedOut).isEmpty();
        assertThat(changesOf(limited)).containsExactly(30, 30, 30, 30);
        assertThat(limited.window().isInvisible()).isTrue();
    }

    @Test
    void timeoutDoesNotCountTheCommit() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        process(
                limited,
                (request, work) -> {
                    ClaimOutcome outcome = granting.execute(request, work);
                    rig.tickFor(Duration.ofSeconds(40));
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    return outcome;
                },
                claim -> "shipped");

        assertThat(rig.timedOut).isEmpty();
        assertThat(changesOf(limited)).containsExactly(30, 30);
    }

    @Test
    void timeoutEndsWithAHandlerThatFails() {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        assertThatThrownBy(() -> process(
                        limited,
                        (request, work) -> {
                            try {
                                return granting.execute(request, work);
                            } finally {
                                rig.tickFor(Duration.ofSeconds(20));
                            }
                        },
                        claim -> {
                            throw new IOException("no stock");
                        }))
                .hasMessage("no stock");

        assertThat(rig.timedOut).isEmpty();
        assertThat(changesOf(limited)).containsExactly(30);
    }

    @Test
    void handlerThatPassesItsTimeoutIsInterruptedOnceAndItsMessageReturned() {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        assertThatThrownBy(() -> process(limited, granting, claim -> {
                    rig.tickFor(TIMEOUT);
                    assertThat(Thread.interrupted()).isTrue();
                    rig.tickFor(TIMEOUT);
                    assertThat(Thread.interrupted()).isFalse();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.timedOut).hasSize(1);
        assertThat(rig.deliveries().settle(limited)).isFalse();
        assertThat(changesOf(limited)).as("renewed no more, and returned").containsExactly(4);
    }

    /** Its writes are in the transaction: a late commit is a commit. */
    @Test
    void handlerThatIgnoresItsTimeoutIsCommittedAndItsMessageRenewedAgain() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        process(limited, granting, claim -> {
            rig.tickFor(TIMEOUT.plusSeconds(10));
            return "shipped";
        });
        assertThat(rig.deliveries().settle(limited)).isTrue();
        rig.tickFor(Duration.ofSeconds(40));

        assertThat(rig.timedOut).hasSize(1);
        assertThat(changesOf(limited)).isNotEmpty().containsOnly(30);
        assertThat(limited.window().isInvisible()).isTrue();
    }

    private List<Integer> changesOf(Delivery received) {
        return rig.queue.changes().stream()
                .filter(change -> change.receiptHandle().equals(received.receiptHandle()))
                .map(Change::seconds)
                .toList();
    }

    @Test
    void claimIsHeldUntilItsHandlerEndsHoweverLongThatTakes() throws Throwable {
        AtomicReference<Claim> kept = new AtomicReference<>();

        process(granting, claim -> {
            rig.clock.advance(Duration.ofHours(1));
            claim.ensureHeld();
            assertThat(claim.fencingToken()).isEqualTo(17);
            kept.set(claim);
            return null;
        });

        assertThatThrownBy(() -> kept.get().ensureHeld()).isInstanceOf(ClaimLostException.class);
    }

    @Test
    void claimIsNotHeldWhenTheListenerStops() {
        assertThatThrownBy(() -> process(granting, claim -> {
                    delivery.abandon();
                    assertThat(Thread.interrupted()).isTrue();
                    claim.ensureHeld();
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class);
    }

    @Test
    void handlerIsNotCalledWhenItsListenerStoppedMeanwhile() {
        assertThatThrownBy(() -> process(
                        (request, work) -> {
                            delivery.abandon();
                            return granting.execute(request, work);
                        },
                        DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("its listener had stopped");

        assertThat(rig.outcomes).containsExactly(new Acquired(1, 17, false));
        assertThat(rig.handled).isEmpty();
    }

    @Test
    void deliveryOfAStoppedListenerIsNotBegun() {
        delivery.abandon();

        assertThatThrownBy(() -> process(granting, DeliveryRig::neverCalled)).isInstanceOf(CancellationException.class);
        assertThat(requests).isEmpty();
    }

    @Test
    void resultThatCannotBeWrittenIsLeftOut() throws Throwable {
        rig.writing(result -> {
            throw new IllegalStateException("no serializer");
        });

        assertThat(process(granting, claim -> "shipped")).isEqualTo("shipped");

        assertThat(results).containsOnlyNulls().hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void interruptThatTheHandlerDidNotNoticeReachesNeitherCommitNorNextDelivery() throws Throwable {
        process(
                (request, work) -> {
                    ClaimOutcome outcome = granting.execute(request, work);
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    return outcome;
                },
                claim -> {
                    delivery.abandon();
                    return null;
                });

        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }
}

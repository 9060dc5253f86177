package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.UnexpectedRollbackException;

/** A handler whose effects, claim and completion are one transaction. */
class TransactionalHandlerTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Acquired ACQUIRED = new Acquired(1, 17, false);

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final List<ClaimRequest> requests = new ArrayList<>();
    private final List<String> results = new ArrayList<>();

    /** Grants the key, and commits the handler's work. */
    private final DeliveryRig.SingleTransaction granting = (request, work) -> {
        requests.add(request);
        results.add(work.run(ACQUIRED));
        return ACQUIRED;
    };

    private static ClaimSpec in(DeliveryRig.SingleTransaction transaction, InDoubtSettings doubt) {
        return new ClaimSpec(DeliveryRig.KEY, null, doubt, DeliveryRig.single(transaction));
    }

    private Object process(DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler)
            throws Throwable {
        return process(delivery, transaction, handler);
    }

    private Object process(
            Delivery received, DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler)
            throws Throwable {
        return rig.process(received, in(transaction, InDoubtSettings.RERUN), handler);
    }

    private Throwable failureOf(DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler) {
        return failureOf(delivery, transaction, handler);
    }

    private Throwable failureOf(
            Delivery received, DeliveryRig.SingleTransaction transaction, DeliveryRig.SingleHandler handler) {
        return rig.failureOf(received, in(transaction, InDoubtSettings.RERUN), handler);
    }

    private void assertNothingAskedOfTheStore() {
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
    }

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void committedDeliveryIsAcknowledgedAndMeasured() throws Throwable {
        Object result = process(granting, claim -> {
            rig.clock.advance(Duration.ofSeconds(3));
            return "shipped";
        });

        assertThat(result).isEqualTo("shipped");
        assertThat(results).containsExactly("\"shipped\"");
        assertThat(requests)
                .extracting(ClaimRequest::key, ClaimRequest::owner)
                .containsExactly(tuple(DeliveryRig.KEY, "worker"));
        assertThat(rig.outcomes).containsExactly(ACQUIRED);
        assertThat(rig.asked).containsExactly(List.of(ACQUIRED).toString());
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(3));
        assertThat(delivery.processed()).isDone();
        assertThat(rig.settle(delivery)).isTrue();
        rig.deliveries().acknowledged(delivery);
        assertThat(rig.delivered).containsExactly(Duration.ofSeconds(3));
        assertNothingAskedOfTheStore();
    }

    @Test
    void claimIsHeldAndItsVisibilityTimeoutRenewedUntilItsHandlerEndsHoweverLongThatTakes() throws Throwable {
        AtomicReference<Claim> kept = new AtomicReference<>();

        process(granting, claim -> {
            rig.tickFor(Duration.ofHours(1));
            claim.ensureHeld();
            assertThat(claim.fencingToken()).isEqualTo(17);
            kept.set(claim);
            return null;
        });

        assertThatThrownBy(() -> kept.get().ensureHeld()).isInstanceOf(ClaimLostException.class);
        assertThat(rig.returns()).hasSizeGreaterThan(200).containsOnly(30);
        assertNothingAskedOfTheStore();
    }

    /** Startup fails if a method declares a future. The declared type of this method hides the future. */
    @Test
    void futureOfWorkOnAnotherThreadIsAFailureAndRolledBack() {
        assertThat(failureOf(granting, claim -> new CompletableFuture<>()))
                .hasMessageContaining("returned java.util.concurrent.CompletableFuture, whose work may not have ended");

        assertThat(results).isEmpty();
        rig.assertReturned(delivery, 4);
        assertNothingAskedOfTheStore();
    }

    @Test
    void failureOfTheHandlerReturnsTheDelivery() {
        IOException failure = new IOException("no stock");

        assertThat(failureOf(granting, claim -> {
                    throw failure;
                }))
                .isSameAs(failure);

        rig.assertReturned(delivery, 4);
        assertThat(rig.handled).hasSize(1);
        assertNothingAskedOfTheStore();
    }

    @Test
    void failureOfTheCommitReturnsTheDeliveryAndCallsTheHandlerOnce() {
        assertThat(failureOf(
                        (request, work) -> {
                            work.run(ACQUIRED);
                            throw new UnexpectedRollbackException("marked as rollback-only");
                        },
                        claim -> "shipped"))
                .isInstanceOf(UnexpectedRollbackException.class);

        assertThat(rig.handled).hasSize(1);
        assertThat(rig.asked)
                .as("the claim was answered, once")
                .containsExactly(List.of(ACQUIRED).toString());
        rig.assertReturned(delivery, 4);
    }

    @Test
    void transactionThatCannotBeginReturnsTheDelivery() {
        assertThat(failureOf(
                        (request, work) -> {
                            throw new IllegalStateException("connection refused");
                        },
                        DeliveryRig::neverCalled))
                .hasMessage("connection refused");

        assertThat(rig.outcomes).isEmpty();
        rig.assertReturned(delivery, 4);
    }

    /** If this failure counted as an outage, it would pause all listeners of the transaction manager forever. */
    @Test
    void claimThatItsOwnSessionRefusesFailsWithTheReasonAndPausesNothing() {
        ClaimTransactionException hidden = new ClaimTransactionException("a search_path hides the table", null);
        List<Delivery> all = List.of(delivery, rig.receiveLast(), rig.receive(), rig.receive());

        for (Delivery each : all) {
            assertThat(failureOf(
                            each,
                            (request, work) -> {
                                requests.add(request);
                                throw hidden;
                            },
                            DeliveryRig::neverCalled))
                    .isSameAs(hidden);
            assertThat(each.attempt().failure())
                    .isEqualTo("%s (%s, not claimed): a search_path hides the table"
                            .formatted(ClaimTransactionException.class.getName(), DeliveryRig.KEY));
            rig.settle(each);
        }

        assertThat(requests).as("each is asked once").hasSameSizeAs(all);
        assertThat(rig.breaker.isPaused()).isFalse();
        assertThat(rig.returns()).containsExactly(4, 4, 4, 4);
    }

    /** The log may contain this text, because the library wrote the text without any payload. */
    @Test
    void reasonForARollbackIsPartOfTheFailureThatIsLogged() {
        failureOf(
                (request, work) -> {
                    work.run(ACQUIRED);
                    throw new ClaimTransactionException("a statement of its handler failed", null);
                },
                claim -> "shipped");

        assertThat(delivery.attempt().failure())
                .contains("ClaimTransactionException (attempt 1 at ")
                .endsWith("): a statement of its handler failed");
        rig.assertReturned(delivery, 4);
    }

    static Stream<Arguments> keyThatIsNotFreeIsDealtWithAsWithoutATransaction() {
        return Stream.of(
                Arguments.of("deleted", new AlreadyCompleted("1"), true, List.of(), 0),
                Arguments.of("waits", new HeldElsewhere(Duration.ofSeconds(20)), false, List.of(), 1),
                Arguments.of("returned", new Parked(), false, List.of(4), 0));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void keyThatIsNotFreeIsDealtWithAsWithoutATransaction(
            String what, ClaimOutcome outcome, boolean isDeleted, List<Integer> returns, int waiting) throws Throwable {
        assertThat(process((request, work) -> outcome, DeliveryRig::neverCalled))
                .isNull();

        assertThat(rig.outcomes).containsExactly(outcome);
        assertThat(rig.settle(delivery)).isEqualTo(isDeleted);
        assertThat(rig.returns()).isEqualTo(returns);
        assertThat(rig.orders.levels().waiting()).hasValue(waiting);
    }

    /** The handler may throw any exception, so the engine detects the lost connection only when the rollback fails. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void handlerWhoseTransactionOrCommitLostItsConnectionIsCalledOnceMore(boolean inCommit) throws Throwable {
        Object result = process(losing(1), claim -> {
            if (!inCommit && rig.handled.isEmpty()) {
                throw new IOException("writing the order failed");
            }
            return "shipped";
        });

        assertThat(result).isEqualTo("shipped");
        assertThat(rig.handled).hasSize(2);
        assertThat(rig.settle(delivery)).isTrue();
    }

    /** A handler that breaks its own connections must not be called again and again. */
    @Test
    void handlerWhoseConnectionIsLostAgainIsNotCalledAThirdTime() {
        Delivery last = rig.receiveLast();

        assertThat(failureOf(last, losing(9), claim -> "shipped")).isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(requests).hasSize(2);
        rig.assertReturned(last, 4);
    }

    @Test
    void handlerThatWasStoppedIsReturnedAlthoughItsConnectionIsLost() {
        assertThat(failureOf(losing(1), claim -> {
                    delivery.stopHandler();
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        rig.assertReturned(delivery, 4);
    }

    /** Grants the key. The first {@code times} transactions then lose the connection, and later ones commit. */
    private DeliveryRig.SingleTransaction losing(int times) {
        return (request, work) -> {
            if (requests.size() >= times) {
                return granting.execute(request, work);
            }
            requests.add(request);
            try {
                work.run(ACQUIRED);
            } catch (Exception failure) {
                throw new ClaimStoreUnavailableException("connection lost", failure);
            }
            throw new ClaimStoreUnavailableException("connection lost", null);
        };
    }

    /** Three failures in a row pause the listener. The engine then repeats the claim until the database answers. */
    @Test
    void claimWithoutAnAnswerIsRepeatedInPlaceUntilItIsAnswered() throws Throwable {
        ClaimTransaction late = rig.breakers.guard(DeliveryRig.single(answeringFrom(10)), "manager");
        Subscription managed = DeliveryRig.subscription("orders", rig.queue, rig.breakers.of(late));
        Delivery received = rig.receive(managed, "handle of a manager", 1);
        ClaimSpec handling = new ClaimSpec(DeliveryRig.KEY, null, InDoubtSettings.RERUN, late);

        assertThat(rig.process(received, handling, claim -> "shipped")).isEqualTo("shipped");

        assertThat(rig.settle(received)).isTrue();
        assertThat(rig.breakers.of(late).isPaused()).isFalse();
        assertThat(rig.breaker.permitsPolling()).as("the claim store's").isTrue();
        assertThat(managed.levels().waiting()).hasValue(0);
        assertThat(rig.timer.delays()).hasSize(9);
    }

    /** A return would move the message to the dead-letter queue untried. */
    @Test
    void claimOnTheLastReceiveIsRepeatedUntilItIsAnswered() throws Throwable {
        Delivery last = rig.receiveLast();

        assertThat(process(last, answeringFrom(3), claim -> "shipped")).isEqualTo("shipped");

        assertThat(rig.settle(last)).isTrue();
    }

    private DeliveryRig.SingleTransaction answeringFrom(int attempt) {
        return (request, work) ->
                requests.size() + 1 < attempt ? unanswered(request, () -> {}) : granting.execute(request, work);
    }

    private ClaimOutcome unanswered(ClaimRequest request, Runnable event) {
        requests.add(request);
        event.run();
        throw new ClaimStoreUnavailableException("no answer", null);
    }

    /** The store answers other claims, so only this claim fails. The message is returned after a few attempts. */
    @Test
    void claimThatAloneFailsIsGivenUpAfterAFewTries() throws Throwable {
        process((request, work) -> unanswered(request, rig.breaker::answered), DeliveryRig::neverCalled);

        assertThat(requests).hasSize(RetryingClaimClient.FEW);
        rig.assertReturned(delivery, 4);
        assertThat(rig.orders.levels().waiting()).hasValue(0);
    }

    /**
     * PostgreSQL may refuse to commit even a transaction that only reads, because of a conflict with another
     * transaction.
     */
    @Test
    void claimThatFailsForGoodAfterItWasRepeatedIsNotCountedAsWaitingAnyMore() {
        assertThat(failureOf(
                        (request, work) -> {
                            if (requests.size() < RetryingClaimClient.FEW) {
                                return unanswered(request, () -> {});
                            }
                            assertThat(rig.orders.levels().waiting()).hasValue(1);
                            throw new IllegalStateException("could not serialize access");
                        },
                        DeliveryRig::neverCalled))
                .hasMessage("could not serialize access");

        assertThat(rig.orders.levels().waiting()).hasValue(0);
        rig.assertReturned(delivery, 4);
    }

    /** Another worker may have received a message that is visible. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void claimIsNotRepeatedAnyMoreWhenItsListenerStopsOrItsMessageIsVisible(boolean stops) throws Throwable {
        Runnable event = stops ? delivery::abandon : () -> rig.clock.advance(Duration.ofSeconds(31));

        process((request, work) -> unanswered(request, event), DeliveryRig::neverCalled);

        assertThat(requests).hasSize(1);
        assertThat(rig.asked).containsExactly("no answer");
    }

    @Test
    void failureForWhichTryingAgainIsOfNoUseParksTheKeyAfterTheRollback() {
        failParking();

        assertThat(rig.store.parkings()).singleElement().satisfies(parking -> {
            assertThat(parking.claim()).isEqualTo(rig.claimed());
            assertThat(parking.reason()).contains("card expired");
        });
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
    }

    @Test
    void keyThatAnotherDeliveryHasCompletedAfterTheRollbackIsNotParked() {
        rig.store.answer(new AlreadyCompleted(null));

        failParking();

        assertThat(rig.store.claims()).hasSize(1);
        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void keyThatAnotherWorkerTookOverIsNotReportedAsParked() {
        rig.store.onPark(parked -> Set.of());

        failParking();

        assertThat(rig.store.parkings()).hasSize(1);
        assertThat(rig.parked).isEmpty();
    }

    private void failParking() {
        assertThat(failureParkingFor(IllegalStateException.class, claim -> {
                    throw new IllegalStateException("card expired");
                }))
                .hasMessage("card expired");
    }

    /** The engine counts receives, because an attempt that was rolled back leaves no trace in the store. */
    @ParameterizedTest
    @CsvSource({"1, 0", "2, 0", "3, 1", "4, 1"})
    void receivesOfAMessageCountAsAttemptsThatThrew(int receives, int parked) {
        InDoubtSettings three = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 3);

        assertThat(rig.failureOf(rig.receive(rig.orders, "again", receives), in(granting, three), claim -> {
                    throw new IllegalStateException("out of stock");
                }))
                .hasMessage("out of stock");

        assertThat(rig.store.claims()).as("only to be parked").hasSize(parked);
        assertThat(rig.store.parkings())
                .hasSize(parked)
                .allMatch(parking -> parking.reason()
                        .equals("maxAttempts (3) is reached: java.lang.IllegalStateException: out of stock"));
        assertThat(rig.parked).hasSize(parked);
    }

    /**
     * A deployment must not park keys, although the application's executor interrupts its threads when it shuts down.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void handlerThatTheApplicationInterruptsIsNotCounted(boolean isCause) {
        InDoubtSettings once = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 1);
        InterruptedException interrupt = new InterruptedException("the pool shuts down");

        assertThat(rig.failureOf(delivery, in(granting, once), claim -> {
                    throw isCause ? new IllegalStateException("no answer", interrupt) : interrupt;
                }))
                .isNotNull();

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.parked).isEmpty();
        rig.assertReturned(delivery, 4);
    }

    /** The stop comes while the advice waits for its turn, before the advice calls the handler. */
    @Test
    void adviceThatIsStoppedBeforeItsHandlerIsNotCounted() {
        InDoubtSettings once = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 1);

        assertThat(rig.failureOf(delivery, in(granting, once), claim -> {
                    delivery.call().awaitWork();
                    delivery.stopHandler();
                    assertThat(Thread.interrupted()).isTrue();
                    throw new IllegalStateException("no turn");
                }))
                .hasMessage("no turn");

        assertThat(rig.store.parkings()).isEmpty();
    }

    /** An exception that {@code parkFor} names parks the key, even if the exception is an interrupt. */
    @Test
    void interruptForWhichTryingAgainIsOfNoUseParksTheKey() {
        assertThat(failureParkingFor(InterruptedException.class, claim -> {
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings()).hasSize(1);
    }

    /** A missing answer does not show whether another attempt would succeed. */
    @Test
    void handlerThatGetsNoAnswerFromAnotherStoreFailsAndIsNotParked() {
        assertThat(failureParkingFor(Exception.class, claim -> {
                    throw new ClaimStoreUnavailableException("of another store", new IllegalStateException());
                }))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(requests).as("it is not repeated").hasSize(1);
        rig.assertReturned(delivery, 4);
    }

    @Test
    void handlerThatWasStoppedIsNotParked() {
        assertThat(failureParkingFor(Exception.class, claim -> {
                    delivery.stopHandler();
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings()).isEmpty();
    }

    private Throwable failureParkingFor(Class<? extends Throwable> type, DeliveryRig.SingleHandler handler) {
        InDoubtSettings parking = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(type));
        return rig.failureOf(delivery, in(granting, parking), handler);
    }

    @Test
    void timeoutEndsWithTheHandlerSoThatItsMessageIsRenewedUntilItsDeleteIsConfirmed() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        process(
                limited,
                (request, work) -> {
                    ClaimOutcome outcome = granting.execute(request, work);
                    rig.tickFor(Duration.ofSeconds(40));
                    assertThat(Thread.currentThread().isInterrupted())
                            .as("by the commit")
                            .isFalse();
                    return outcome;
                },
                claim -> {
                    rig.tickFor(Duration.ofSeconds(3));
                    return "shipped";
                });
        assertThat(rig.settle(limited)).isTrue();
        rig.tickFor(Duration.ofSeconds(20));

        assertThat(rig.timedOut).isEmpty();
        assertThat(changesOf(limited)).containsExactly(30, 30, 30, 30);
        assertThat(limited.visibility().isInvisible()).isTrue();
    }

    /** The handler's writes are part of the transaction, so a commit after the timeout is still valid. */
    @Test
    void handlerThatIgnoresItsTimeoutIsCommittedAndItsMessageRenewedAgain() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        process(limited, granting, claim -> {
            rig.tickFor(TIMEOUT.plusSeconds(10));
            return "shipped";
        });
        assertThat(rig.settle(limited)).isTrue();
        rig.tickFor(Duration.ofSeconds(40));

        assertThat(rig.timedOut).hasSize(1);
        assertThat(changesOf(limited)).isNotEmpty().containsOnly(30);
        assertThat(limited.visibility().isInvisible()).isTrue();
    }

    private List<Integer> changesOf(Delivery received) {
        return rig.queue.changes().stream()
                .filter(change -> change.receiptHandle().equals(received.receiptHandle()))
                .map(Change::seconds)
                .toList();
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
        assertThat(delivery.processed()).isDone();
    }

    @Test
    void claimIsNotHeldWhenTheListenerStops() {
        assertThat(failureOf(granting, claim -> {
                    delivery.abandon();
                    assertThat(Thread.interrupted()).isTrue();
                    claim.ensureHeld();
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class);
    }

    @Test
    void handlerIsNotCalledWhenItsListenerStoppedMeanwhile() {
        assertThat(failureOf(
                        (request, work) -> {
                            delivery.abandon();
                            return granting.execute(request, work);
                        },
                        DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("its listener had stopped");

        assertThat(rig.outcomes).containsExactly(ACQUIRED);
        assertThat(rig.handled).isEmpty();
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

        assertThat(rig.settle(delivery)).isTrue();
    }
}

package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doNothing;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.kit.Till.Order;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.ArgumentCaptor;
import org.mockito.stubbing.Answer;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

@ExactlyOnceTest
@ExtendWith(OutputCaptureExtension.class)
class ExactlyOnceDriverTests {

    private static final Order ORDER = new Order("A-1", 500);

    @Autowired
    private ExactlyOnceDriver driver;

    @MockitoBean
    private Till till;

    static class Shop {

        private final Till till;

        Shop(Till till) {
            this.till = till;
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#order.orderId",
                timeout = "5m",
                parkFor = UnsupportedOperationException.class)
        void sell(Order order, Claim claim, @Header(name = "shop", required = false) String shop)
                throws InterruptedException {
            claim.ensureHeld();
            till.charge(shop == null ? order.orderId() : shop + "/" + order.orderId(), claim);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Shop.class)
    static class Application {}

    /**
     * These tests cause crashes, lost claims and failing handlers on purpose, so none of these is logged as an error.
     * Only an unreadable message is an error, because a test does not send one on purpose.
     */
    @AfterEach
    void testThatPassesLogsNoError(CapturedOutput output) {
        assertThat(output.toString().lines())
                .filteredOn(line -> line.contains("ERROR") && !line.contains("cannot be read"))
                .isEmpty();
    }

    @Test
    void messageIsHandledAndDeleted() throws InterruptedException {
        assertThat(driver.deliverPayload(ORDER)).wasHandled().wasAttempt(1);
        assertThat(driver.deliverBody("{\"orderId\":\"A-2\",\"cents\":1}")).wasHandled();

        verify(till).charge(eq("A-1"), any());
        verify(till).charge(eq("A-2"), any());
    }

    @Test
    void attributesAreHeaders() throws InterruptedException {
        driver.deliver(TestMessage.ofPayload(ORDER).header("shop", "Lyon"));

        verify(till).charge(eq("Lyon/A-1"), any());
    }

    @Test
    void redeliveryIsSuppressed() throws InterruptedException {
        Delivered first = driver.deliverPayload(ORDER);

        Delivered second = driver.redeliver(first);

        assertThat(second).wasSuppressed().didNotReachItsHandler();
        assertThat(second.messageId()).isEqualTo(first.messageId());
        assertThat(second.receiveCount()).isEqualTo(2);
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void duplicateIsSuppressed() throws InterruptedException {
        Delivered first = driver.deliverPayload(ORDER);

        Delivered second = driver.duplicate(first);

        assertThat(second).wasSuppressed();
        assertThat(second.messageId()).isNotEqualTo(first.messageId());
        assertThat(second.receiveCount()).isEqualTo(1);
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void testMethodsShareNoKeys() throws InterruptedException {
        assertThat(driver.deliverPayload(ORDER)).wasHandled();
    }

    @Test
    void duplicateWaitsWhileTheHandlerRuns() throws InterruptedException {
        CountDownLatch paid = new CountDownLatch(1);
        doAnswer(waitFor(paid)).when(till).charge(any(), any());
        Delivered first = driver.begin(TestMessage.ofPayload(ORDER));
        verify(till, timeout(10_000)).charge(any(), any());

        Delivered second = driver.duplicate(first);
        driver.advance(Duration.ofMinutes(4));
        assertThat(first).has(Outcome.RUNNING);
        assertThat(second).isWaiting();
        paid.countDown();

        assertThat(driver.awaitEnd(first)).wasHandled();
        driver.advance(Duration.ofSeconds(1));
        assertThat(driver.awaitEnd(second)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void failedMessageIsRedelivered() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).doNothing().when(till).charge(any(), any());

        Delivered first = driver.deliverPayload(ORDER);

        assertThat(first).wasReturnedWithin(Duration.ofMinutes(15));
        assertThat(first.failure()).get().isInstanceOf(IllegalStateException.class);
        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
    }

    @Test
    void crashBeforeTheHandlerCostsNothing() throws InterruptedException {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.BEFORE_HANDLER));
        assertThat(first).hasCrashed().isNotDeleted();
        verify(till, never()).charge(any(), any());

        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void crashAfterTheHandlerMakesTheNextAttemptInDoubt() throws InterruptedException {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.AFTER_HANDLER));
        assertThat(first).hasCrashed().isNotDeleted();

        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
        List<Claim> claims = claims(2);
        assertThat(claims).extracting(Claim::isInDoubt).containsExactly(false, true);
        assertThat(claims.get(1).downstreamKey()).isEqualTo(claims.get(0).downstreamKey());
    }

    @Test
    void crashAfterTheCompletionIsNoSecondEffect() throws InterruptedException {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.AFTER_COMPLETION));
        assertThat(first).hasCrashed().isNotDeleted();

        assertThat(driver.redeliver(first)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void workerCrashesInTheMidstOfItsHandler() throws InterruptedException {
        doAnswer(call -> driver.crash()).doNothing().when(till).charge(any(), any());

        Delivered first = driver.deliverPayload(ORDER);

        assertThat(first).hasCrashed().isNotDeleted();
        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
    }

    @Test
    void duplicateOfACrashedWorkersMessageWaitsForItsLease() {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.AFTER_HANDLER));

        Delivered second = driver.duplicate(first);
        assertThat(second).isWaiting();
        driver.endLease(first);
        driver.advance(Duration.ofSeconds(1));

        assertThat(driver.awaitEnd(second)).wasReturned();
        assertThat(second.delay()).isZero();
        assertThat(driver.redeliver(second)).wasHandled().wasAttempt(2);
    }

    @Test
    void handlerWhoseClaimIsLostBeforeItsEffectHasNone() throws InterruptedException {
        Delivered lost = driver.deliver(TestMessage.ofPayload(ORDER).loseClaim());

        assertThat(lost).wasAbandoned();
        assertThat(lost.failure()).get().isInstanceOf(ClaimLostException.class);
        verify(till, never()).charge(any(), any());
    }

    @Test
    void handlerThatRunsWhenItsClaimIsLostIsInterrupted() throws InterruptedException {
        doAnswer(waitFor(new CountDownLatch(1))).when(till).charge(any(), any());
        Delivered running = driver.begin(TestMessage.ofPayload(ORDER));
        verify(till, timeout(10_000)).charge(any(), any());

        OtherWorker other = driver.loseClaim(running);

        assertThat(driver.awaitEnd(running)).wasAbandoned();
        assertThat(running.failure()).get().isInstanceOf(InterruptedException.class);
        Delivered again = driver.redeliver(running);
        assertThat(again).isWaiting();
        other.complete();
        assertThat(driver.awaitEnd(again)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void claimIsLostByWhatTheHandlerCalls() throws InterruptedException {
        doAnswer(call -> {
                    driver.loseClaim();
                    call.getArgument(1, Claim.class).ensureHeld();
                    return null;
                })
                .when(till)
                .charge(any(), any());

        Delivered lost = driver.deliverPayload(ORDER);

        assertThat(lost).wasAbandoned();
        assertThat(lost.failure()).get().isInstanceOf(ClaimLostException.class);
    }

    @Test
    void secondDeliveryTakesOverWhenTheLeaseHasEndedUnnoticed() throws InterruptedException {
        CountDownLatch paid = new CountDownLatch(1);
        doAnswer(waitFor(paid)).doNothing().when(till).charge(any(), any());
        Delivered first = driver.begin(TestMessage.ofPayload(ORDER));
        verify(till, timeout(10_000)).charge(any(), any());
        driver.endLease(first);

        Delivered second = driver.redeliver(first);
        paid.countDown();

        assertThat(second).wasHandled().wasAttempt(2);
        assertThat(driver.awaitEnd(first)).has(Outcome.ABANDONED);
    }

    @Test
    void keyIsParked() throws InterruptedException {
        doThrow(new UnsupportedOperationException("no such article")).when(till).charge(any(), any());

        Delivered first = driver.deliverPayload(ORDER);
        Delivered second = driver.redeliver(first);

        assertThat(first).isParked().wasAttempt(1);
        assertThat(second).isParked().didNotReachItsHandler();
    }

    @Test
    void handlerIsInterruptedAtItsTimeout() throws InterruptedException {
        doAnswer(waitFor(new CountDownLatch(1))).when(till).charge(any(), any());
        Delivered running = driver.begin(TestMessage.ofPayload(ORDER));
        verify(till, timeout(10_000)).charge(any(), any());

        driver.advance(Duration.ofMinutes(6));

        driver.awaitEnd(running);
        assertThat(running.failure()).get().isInstanceOf(InterruptedException.class);
        assertThat(running).isNotDeleted();
    }

    @Test
    void messagesWaitWhileTheStoreIsAway() throws InterruptedException {
        driver.failStore();
        Delivered first = driver.deliverPayload(ORDER);
        assertThat(first).isWaiting().didNotReachItsHandler();

        driver.restoreStore();

        assertThat(driver.awaitEnd(first)).wasHandled().wasAttempt(1);
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void completionIsRecordedWhenTheStoreIsBack() throws InterruptedException {
        doAnswer(call -> {
                    driver.failStore();
                    return null;
                })
                .when(till)
                .charge(any(), any());

        Delivered first = driver.deliverPayload(ORDER);
        assertThat(first).has(Outcome.UNRECORDED).isNotDeleted();
        driver.restoreStore();

        assertThat(driver.awaitEnd(first)).wasHandled();
        assertThat(driver.redeliver(first)).wasSuppressed();
    }

    @Test
    void keyThatAnotherWorkerHoldsIsWaitedFor() throws InterruptedException {
        OtherWorker other = driver.holdElsewhere("orders", "A-1");
        Delivered waiting = driver.deliverPayload(ORDER);
        assertThat(waiting).isWaiting();

        other.fail();

        assertThat(driver.awaitEnd(waiting)).wasReturned();
        doNothing().when(till).charge(any(), any());
        assertThat(driver.redeliver(waiting)).wasHandled().wasAttempt(2);
    }

    @Test
    void messageThatCannotBeReadIsReturned() {
        assertThat(driver.deliverBody("no order")).wasReturned().didNotReachItsHandler();
    }

    @Test
    void textIsNoPayloadAndAMessageNeither() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> driver.deliverPayload("{\"orderId\":\"A-1\"}"))
                .withMessageContaining("deliverBody(text)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> driver.deliverPayload(TestMessage.ofPayload(ORDER)))
                .withMessageContaining("deliver(message)");
    }

    @Test
    void reportsWhatIsWrongWithTheTest() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> driver.deliver(TestMessage.ofPayload(ORDER).to("invoices")))
                .withMessage(
                        "The message is for queue 'invoices', and listeners read [orders]; choose one with TestMessage.to(queue)");
        assertThatIllegalStateException()
                .isThrownBy(() -> driver.loseClaim())
                .withMessageContaining("No handler runs on thread");
    }

    private static Answer<?> waitFor(CountDownLatch latch) {
        return call -> {
            latch.await();
            return null;
        };
    }

    private List<Claim> claims(int calls) throws InterruptedException {
        ArgumentCaptor<Claim> claims = ArgumentCaptor.forClass(Claim.class);
        verify(till, times(calls)).charge(any(), claims.capture());
        return claims.getAllValues();
    }
}

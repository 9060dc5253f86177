package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.test.kit.Till.Order;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.InOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Batches, futures and the groups of FIFO queues. */
@ExactlyOnceTest
@ExtendWith(OutputCaptureExtension.class)
class ListenerKindsTests {

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private Shop shop;

    @Autowired
    private Asking asking;

    @MockitoBean
    private Till till;

    static class Shop {

        private final Till till;
        private final Map<String, CompletableFuture<String>> promises = new ConcurrentHashMap<>();

        Shop(Till till) {
            this.till = till;
        }

        CompletableFuture<String> promise(String orderId) {
            return promises.computeIfAbsent(orderId, unknown -> new CompletableFuture<>());
        }

        boolean hasPromised(String orderId) {
            return promises.containsKey(orderId);
        }

        @ExactlyOnceListener(
                queueNames = "batches",
                key = "#payload.orderId",
                fingerprint = "{#payload.orderId, #payload.cents}")
        BatchResult sellAll(List<Message<Order>> orders, List<Claim> claims) throws InterruptedException {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                try {
                    till.charge(orders.get(index).getPayload().orderId(), claims.get(index));
                } catch (IllegalStateException failure) {
                    result = result.andFailed(index, failure);
                }
            }
            return result;
        }

        @ExactlyOnceListener(queueNames = "promises", key = "#order.orderId")
        CompletableFuture<String> sellSoon(Order order) {
            return promise(order.orderId());
        }

        @ExactlyOnceListener(queueNames = "groups.fifo", key = "#order.orderId")
        void sellInOrder(Order order, Claim claim) throws InterruptedException {
            till.charge(order.orderId(), claim);
        }

        @ExactlyOnceListener(
                id = "published",
                queueNames = "published",
                key = "#order.orderId",
                whenInDoubt = InDoubtPolicy.RECONCILE)
        String sellPublished(@SnsNotificationMessage Order order, Claim claim) throws InterruptedException {
            till.charge(order.orderId(), claim);
            return "sold";
        }

        @ExactlyOnceListener(
                id = "notified",
                queueNames = "notified",
                key = "#notification.messageId",
                whenInDoubt = InDoubtPolicy.RECONCILE)
        String sellNotified(SnsNotification<String> notification, Claim claim) throws InterruptedException {
            till.charge(notification.getMessage(), claim);
            return "sold";
        }

        @ExactlyOnceListener(queueNames = "pings", key = "#order.orderId", whenKeyMissing = MissingKeyPolicy.SKIP)
        void sellUnlessPing(Order order, Claim claim) throws InterruptedException {
            till.charge(order.orderId(), claim);
        }
    }

    /** A reconciler that reads each payload as the type that the handler takes. */
    static class Asking implements Reconciler<String> {

        private final List<String> read = new CopyOnWriteArrayList<>();

        List<String> read() {
            return read;
        }

        @Override
        public Reconciliation<String> reconcile(InDoubtAttempt attempt) {
            read.add(
                    attempt.listener().equals("published")
                            ? attempt.payload(Order.class).orderId()
                            : attempt.payload(SnsNotification.class)
                                    .getMessage()
                                    .toString());
            return Reconciliation.done("found");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Asking.class})
    static class Application {}

    private static TestMessage order(String orderId, String queue) {
        return TestMessage.ofPayload(new Order(orderId, 100)).to(queue);
    }

    @Test
    void batchIsHandledWithoutItsDuplicates() throws InterruptedException {
        Delivered earlier = driver.deliver(order("B-1", "batches"));

        List<Delivered> batch =
                driver.deliverTogether(order("B-1", "batches"), order("B-2", "batches"), order("B-3", "batches"));

        assertThat(earlier).wasHandled();
        assertThat(batch.get(0)).wasSuppressed();
        assertThat(batch.get(1)).wasHandled();
        assertThat(batch.get(2)).wasHandled();
        verify(till, times(3)).charge(any(), any());
    }

    /** A sender repeats an order with another timestamp, or uses the same key for a different order. */
    @Test
    void messagesOfABatchAreComparedByWhatTheirListenerNames() throws InterruptedException {
        String again = "{\"orderId\":\"B-1\",\"cents\":%d,\"sentAt\":%d}";

        Delivered earlier = driver.deliver(order("B-1", "batches"));
        List<Delivered> batch = driver.deliverTogether(
                TestMessage.ofBody(again.formatted(100, 2)).to("batches"),
                TestMessage.ofBody(again.formatted(4_242, 3)).to("batches"));

        assertThat(earlier).wasHandled();
        assertThat(batch.get(0)).wasSuppressed();
        assertThat(batch.get(1)).has(Outcome.MISMATCHED);
        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void batchFailsInPart() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).when(till).charge(eq("B-2"), any());

        List<Delivered> batch = driver.deliverTogether(order("B-1", "batches"), order("B-2", "batches"));

        assertThat(batch.get(0)).wasHandled();
        assertThat(batch.get(1)).wasReturned();
        assertThat(driver.redeliver(batch.get(0))).wasSuppressed();
    }

    @Test
    void batchOfAWorkerThatCrashesIsRedelivered() throws InterruptedException {
        List<Delivered> batch = driver.deliverTogether(
                order("B-1", "batches").crashAt(CrashPoint.AFTER_HANDLER), order("B-2", "batches"));

        assertThat(batch).allSatisfy(each -> assertThat(each).hasCrashed().isNotDeleted());
        assertThat(driver.redeliver(batch.get(0))).wasHandled().wasAttempt(2);
        verify(till, times(2)).charge(eq("B-1"), any());
    }

    @Test
    void futureIsHandledWhenItHasEnded() {
        Delivered delivered = driver.begin(order("P-1", "promises"));
        assertThat(delivered).has(Outcome.RUNNING).isNotDeleted();

        shop.promise("P-1").complete("sold");

        assertThat(driver.awaitEnd(delivered)).wasHandled();
        assertThat(driver.redeliver(delivered)).wasSuppressed();
    }

    /** Spring Cloud AWS would log a ClassCastException for the future's result. */
    @Test
    void futureWithAResultIsNoFailure(CapturedOutput output) {
        shop.promise("P-3").complete("sold");

        assertThat(driver.deliver(order("P-3", "promises"))).wasHandled();

        assertThat(output).doesNotContain("ClassCastException");
    }

    @Test
    void futureIsCancelledWhenItsClaimIsLost() {
        Delivered delivered = driver.begin(order("P-2", "promises"));
        // A handler that is only about to run would not be called without its claim.
        await().until(() -> shop.hasPromised("P-2"));

        driver.loseClaim(delivered);

        assertThat(driver.awaitEnd(delivered)).wasAbandoned();
        assertThat(shop.promise("P-2")).isCancelled();
    }

    @Test
    void groupIsHandledInOrder() throws InterruptedException {
        List<Delivered> group = driver.deliverTogether(
                order("G-1", "groups.fifo").group("a"),
                order("G-2", "groups.fifo").group("a"));

        assertThat(group).allSatisfy(each -> assertThat(each).wasHandled());
        InOrder order = inOrder(till);
        order.verify(till).charge(eq("G-1"), any());
        order.verify(till).charge(eq("G-2"), any());
    }

    @Test
    void groupStopsBehindAMessageThatFails() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).when(till).charge(eq("G-1"), any());

        List<Delivered> group = driver.deliverTogether(
                order("G-1", "groups.fifo").group("a"),
                order("G-2", "groups.fifo").group("a"),
                order("G-3", "groups.fifo").group("b"));

        assertThat(group.get(0)).wasReturned();
        assertThat(group.get(1)).wasReturned().didNotReachItsHandler();
        assertThat(group.get(2)).wasHandled();
    }

    @Test
    void reconcilerGetsTheContentOfANotificationAsItsHandlerDoes() throws InterruptedException {
        String envelope = "{\"Type\":\"Notification\",\"MessageId\":\"7\",\"TopicArn\":\"t\","
                + "\"Message\":\"{\\\"orderId\\\":\\\"N-1\\\",\\\"cents\\\":100}\"}";
        for (String queue : List.of("published", "notified")) {
            Delivered first =
                    driver.deliver(TestMessage.ofBody(envelope).to(queue).crashAt(CrashPoint.AFTER_HANDLER));

            assertThat(driver.redeliver(first)).isDeleted().didNotReachItsHandler();
        }

        assertThat(asking.read()).containsExactly("N-1", "{\"orderId\":\"N-1\",\"cents\":100}");
        verify(till, times(2)).charge(any(), any());
    }

    @Test
    void messageWithoutAKeyThatIsSkippedIsNoDuplicate() throws InterruptedException {
        assertThat(driver.deliver(TestMessage.ofBody("{\"cents\":1}").to("pings")))
                .wasSkipped()
                .didNotReachItsHandler();
        Delivered first = driver.deliver(order("K-1", "pings"));
        assertThat(first).wasHandled();
        assertThat(driver.duplicate(first)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
    }

    /** The groups of a fair queue name tenants, and imply no order. */
    @Test
    void groupOfAStandardQueueStopsNoMessage() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).when(till).charge(eq("B-1"), any());

        List<Delivered> tenants = driver.deliverTogether(
                TestMessage.ofBody("no order").to("batches").group("a"),
                order("B-1", "batches").group("a"),
                order("B-2", "batches").group("a"));

        assertThat(tenants.get(0)).wasReturned();
        assertThat(tenants.get(1)).wasReturned();
        assertThat(tenants.get(2)).wasHandled();
    }
}

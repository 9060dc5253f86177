package io.exactlyonce.test.newcomer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.test.kit.CrashPoint;
import io.exactlyonce.test.kit.Delivered;
import io.exactlyonce.test.kit.ExactlyOnceDriver;
import io.exactlyonce.test.kit.ExactlyOnceTest;
import io.exactlyonce.test.kit.TestMessage;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A shop as a reader of the user pages would write and test it. */
@ExactlyOnceTest
class BookshopTests {

    record Order(String orderId, String isbn) {}

    record Line(String isbn, int copies) {}

    record Receipt(String chargeId) {}

    static class CardExpired extends RuntimeException {}

    interface Carrier {
        void book(String orderId, String downstreamKey) throws IOException;
    }

    interface PaymentProvider {
        Receipt charge(String orderId, String downstreamKey);

        Optional<Receipt> find(String downstreamKey);
    }

    interface Warehouse {
        List<Line> quote(String orderId);
    }

    static class Shipping {

        private final Carrier carrier;

        Shipping(Carrier carrier) {
            this.carrier = carrier;
        }

        @ExactlyOnceListener(id = "shipping", queueNames = "shipments", key = "#payload.orderId")
        public BatchResult ship(List<Order> orders, List<Claim> claims) {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                try {
                    carrier.book(orders.get(index).orderId(), claims.get(index).downstreamKey());
                } catch (IOException failure) {
                    result = result.andFailed(index, failure);
                }
            }
            return result;
        }
    }

    static class Payments {

        private final PaymentProvider provider;

        Payments(PaymentProvider provider) {
            this.provider = provider;
        }

        @ExactlyOnceListener(
                id = "payments",
                queueNames = "payments",
                key = "#order.orderId",
                whenInDoubt = InDoubtPolicy.RECONCILE,
                parkFor = CardExpired.class)
        public Receipt charge(Order order, Claim claim) {
            return provider.charge(order.orderId(), claim.downstreamKey());
        }
    }

    record StockChanged(String eventId) {}

    static class Stock {

        private final Warehouse warehouse;

        Stock(Warehouse warehouse) {
            this.warehouse = warehouse;
        }

        @ExactlyOnceListener(
                id = "stock",
                queueNames = "stock",
                key = "#event.eventId",
                whenKeyMissing = MissingKeyPolicy.SKIP)
        public void count(StockChanged event) {
            warehouse.quote(event.eventId());
        }
    }

    static class Quotes {

        private final ExactlyOnceOperations operations;
        private final Warehouse warehouse;

        Quotes(ExactlyOnceOperations operations, Warehouse warehouse) {
            this.operations = operations;
            this.warehouse = warehouse;
        }

        List<Line> quote(String orderId) {
            return operations
                    .once("quotes", orderId)
                    .call(new ParameterizedTypeReference<List<Line>>() {}, claim -> warehouse.quote(orderId));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Shipping.class, Payments.class, Stock.class, Quotes.class})
    static class Application {

        @Bean
        Reconciler<Receipt> charges(PaymentProvider provider) {
            return attempt -> provider.find(attempt.claim().downstreamKey())
                    .map(Reconciliation::done)
                    .orElseGet(Reconciliation::runAgain);
        }
    }

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private ExactlyOnceOperations operations;

    @Autowired
    private ParkedKeys parked;

    @Autowired
    private Quotes quotes;

    @MockitoBean
    private Carrier carrier;

    @MockitoBean
    private PaymentProvider provider;

    @MockitoBean
    private Warehouse warehouse;

    @Test
    void orderThatTheCarrierRefusesIsRedeliveredAlone() throws IOException {
        doThrow(new IOException("no van")).doNothing().when(carrier).book(eq("A-1"), anyString());

        List<Delivered> batch = driver.deliverTogether(
                TestMessage.ofPayload(new Order("A-1", "i")).to("shipments"),
                TestMessage.ofPayload(new Order("A-2", "i")).to("shipments"));

        assertThat(batch.get(0)).wasReturned();
        assertThat(batch.get(1)).wasHandled();
        assertThat(driver.redeliver(batch.get(0))).wasHandled().wasAttempt(2);
    }

    private Delivered crashWithACharge() {
        return driver.deliver(
                TestMessage.ofPayload(new Order("A-1", "i")).to("payments").crashAt(CrashPoint.AFTER_HANDLER));
    }

    @Test
    void chargeThatTheProviderHasMadeIsNotRepeated() {
        when(provider.charge(anyString(), anyString())).thenReturn(new Receipt("c1"));
        Delivered first = crashWithACharge();
        when(provider.find(anyString())).thenReturn(Optional.of(new Receipt("c1")));

        assertThat(driver.redeliver(first)).isDeleted().didNotReachItsHandler();
        assertThat(operations.once("payments", "A-1").call(Receipt.class, claim -> new Receipt("c2")))
                .isEqualTo(new Receipt("c1"));
        verify(provider, times(1)).charge(any(), any());
    }

    @Test
    void chargeThatTheProviderDoesNotKnowIsMadeAgain() {
        Delivered first = crashWithACharge();
        when(provider.find(anyString())).thenReturn(Optional.empty());

        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
    }

    @Test
    void eventWithoutAKeyIsSkipped() {
        TestMessage ping = TestMessage.ofBody("{\"ping\":true}").to("stock");

        assertThat(driver.deliver(ping)).isDeleted().didNotReachItsHandler();
        assertThat(driver.deliver(TestMessage.ofPayload(new StockChanged("E-1")).to("stock")))
                .wasHandled();
    }

    @Test
    void quoteIsRequestedOnceAndReadBackAsLines() {
        when(warehouse.quote("A-1")).thenReturn(List.of(new Line("i", 2), new Line("j", 1)));

        assertThat(quotes.quote("A-1")).containsExactly(new Line("i", 2), new Line("j", 1));
        assertThat(quotes.quote("A-1")).containsExactly(new Line("i", 2), new Line("j", 1));
        verify(warehouse, times(1)).quote("A-1");
    }

    @Test
    void expiredCardsAreDecidedTogether() {
        when(provider.charge(anyString(), anyString())).thenThrow(new CardExpired());
        Delivered first =
                driver.deliver(TestMessage.ofPayload(new Order("A-1", "i")).to("payments"));
        driver.deliver(TestMessage.ofPayload(new Order("A-2", "i")).to("payments"));
        assertThat(first).isParked();

        List<ParkedClaim> seen = parked.list(1_000);
        List<ParkedClaim> undecided = parked.completeAll(seen);

        assertThat(seen).hasSize(2).allMatch(each -> each.scope().equals("payments"));
        assertThat(undecided).isEmpty();
        assertThat(parked.releaseAll(seen)).isEqualTo(seen);
        assertThat(driver.redeliver(first)).wasSuppressed();
    }
}

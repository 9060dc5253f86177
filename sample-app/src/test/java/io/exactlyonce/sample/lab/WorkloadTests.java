package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WorkloadTests {

    private final LabSettings settings = LabSettings.standard().withOrders(30);
    private final Workload workload = new Workload(settings);

    @Test
    void everyThirdOrderOutlivesTheVisibilityTimeoutByHalfAtLeast() {
        assertThat(workload.orders()).hasSize(30);
        assertThat(workload.slowOrders()).isEqualTo(10);
        assertThat(workload.outlivesWindow("order-0001")).isFalse();
        assertThat(workload.outlivesWindow("order-0003")).isTrue();
        assertThat(workload.orderIds())
                .filteredOn(workload::outlivesWindow)
                .allSatisfy(id ->
                        assertThat(workload.mailDelay(id)).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(7)));
    }

    @Test
    void bothSidesGetTheSameOrdersAndDelays() {
        Workload other = new Workload(settings);
        assertThat(other.orders()).isEqualTo(workload.orders());
        assertThat(workload.orderIds())
                .allSatisfy(id -> assertThat(other.mailDelay(id)).isEqualTo(workload.mailDelay(id)));
    }
}

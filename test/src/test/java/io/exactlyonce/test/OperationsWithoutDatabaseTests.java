package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedException;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceObservabilityAutoConfiguration;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Code outside a listener, with the store in memory and without a database. */
class OperationsWithoutDatabaseTests {

    private final AtomicInteger charges = new AtomicInteger();
    private final InMemoryClaimStore store = new InMemoryClaimStore();

    @Test
    void storeInMemoryIsAllThatOperationsNeed() {
        withOperations((operations, parked) -> {
            assertThat(charge(operations)).isEqualTo(1);
            assertThat(charge(operations)).isEqualTo(1);
            assertThat(charges).hasValue(1);
        });
    }

    @Test
    void peopleDecideOnItsParkedClaims() {
        withOperations((operations, parked) -> {
            park();
            assertThatThrownBy(() -> charge(operations)).isInstanceOf(ParkedException.class);

            ParkedClaim seen = parked.find("payments", "A-1").orElseThrow();
            assertThat(parked.list(10)).containsExactly(seen);
            assertThat(parked.complete(seen, 7)).isTrue();

            assertThat(charge(operations)).isEqualTo(7);
            assertThat(parked.list(10)).isEmpty();
            assertThat(charges).hasValue(0);
        });
    }

    private void withOperations(BiConsumer<ExactlyOnceOperations, ParkedKeys> test) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withBean(InMemoryClaimStore.class, () -> store)
                .run(context -> {
                    assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(DataSource.class)
                            .hasSingleBean(ClaimStore.class)
                            .hasSingleBean(ParkedClaims.class);
                    test.accept(context.getBean(ExactlyOnceOperations.class), context.getBean(ParkedKeys.class));
                });
    }

    private Integer charge(ExactlyOnceOperations operations) {
        return operations.once("payments", "A-1").call(Integer.class, claim -> charges.incrementAndGet());
    }

    private void park() {
        ClaimRequest request =
                new ClaimRequest(new ClaimKey("payments", "A-1"), UUID.randomUUID(), "worker", Duration.ofMinutes(1));
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Parked(request.id(), "card expired", true)));
    }
}

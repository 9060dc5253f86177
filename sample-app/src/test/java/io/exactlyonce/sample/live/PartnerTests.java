package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PartnerTests {

    private static final Duration SLOWING = Duration.ofSeconds(60);

    private long now = 12_345;
    private final Partner partner = new Partner(SLOWING, () -> now);

    @Test
    void quickPartnerAnswersWithinASecondAndEachOrderInItsOwnTime() {
        assertThat(orders().map(partner::delay)).allMatch(delay -> delay.toMillis() >= 600 && delay.toMillis() < 900);
        assertThat(orders().map(partner::delay).distinct().count()).isGreaterThan(50);
        assertThat(partner.delay("order-1")).isEqualTo(partner.delay("order-1"));
    }

    @Test
    void partnerBecomesSlowerStepByStepAndNoSlowerThanFiveTimes() {
        Duration quick = partner.delay("order-1");
        partner.setSlow(true);

        assertThat(partner.isSlow()).isTrue();
        assertThat(partner.delay("order-1")).isEqualTo(quick);
        pass(SLOWING.dividedBy(2));
        assertThat(millis()).isCloseTo(quick.toMillis() * 3, within(2L));
        pass(SLOWING.dividedBy(2));
        assertThat(millis()).isEqualTo(quick.toMillis() * 5);
        pass(SLOWING);
        assertThat(millis()).isEqualTo(quick.toMillis() * 5);
    }

    @Test
    void partnerRecoversAtOnce() {
        Duration quick = partner.delay("order-1");
        partner.setSlow(true);
        pass(SLOWING);
        partner.setSlow(false);

        assertThat(partner.delay("order-1")).isEqualTo(quick);
    }

    private long millis() {
        return partner.delay("order-1").toMillis();
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private static Stream<String> orders() {
        return IntStream.range(0, 100).mapToObj("order-%04d"::formatted);
    }
}

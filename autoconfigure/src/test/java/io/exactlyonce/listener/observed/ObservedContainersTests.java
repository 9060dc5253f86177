package io.exactlyonce.listener.observed;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObservedContainersTests {

    @ParameterizedTest
    @CsvSource({",27", "PT30S,27", "PT10S,9", "PT2S,1", "PT1S,1", "PT0S,1", "PT1.5S,1", "PT12H,38880", "PT24H,43200"})
    void leaseEndsBeforeTheWindowThatIsConfiguredOrUsual(@Nullable Duration window, long seconds) {
        assertThat(ObservedContainers.lease(window).length()).isEqualTo(Duration.ofSeconds(seconds));
    }
}

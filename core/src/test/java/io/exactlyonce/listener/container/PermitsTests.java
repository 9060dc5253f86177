package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.ConcurrencyLimiterBlockingBackPressureHandler;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PermitsTests {

    private static final Duration SHORT = Duration.ofMillis(10);

    private static Permits permits(SqsContainerOptionsBuilder builder) {
        SqsContainerOptions options =
                builder.maxConcurrentMessages(10).maxDelayBetweenPolls(SHORT).build();
        return new Permits(
                (BatchAwareBackPressureHandler)
                        options.getBackPressureHandlerFactory().createBackPressureHandler(options),
                options);
    }

    private static Permits permits() {
        return permits(SqsContainerOptions.builder().backPressureMode(BackPressureMode.FIXED_HIGH_THROUGHPUT));
    }

    @Test
    void whatIsFreeIsGivenSoonAlthoughItIsLessThanAPoll() throws Exception {
        Permits permits = permits();
        assertThat(permits.request(SHORT)).isEqualTo(10);
        permits.release(3, ReleaseReason.PROCESSED);

        assertThat(permits.request(SHORT)).isEqualTo(3);
        assertThat(permits.request(SHORT)).as("nothing is free").isZero();
        permits.release(7, ReleaseReason.PROCESSED);
        assertThat(permits.drain(SHORT)).isFalse();
        permits.release(3, ReleaseReason.NONE_FETCHED);

        assertThat(permits.drain(SHORT)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"AUTO, 6", "FIXED_HIGH_THROUGHPUT, 6", "ALWAYS_POLL_MAX_MESSAGES, 0"})
    void modesOfSpringCloudAwsLimitPermitsAsTheyAreConfigured(BackPressureMode mode, int permitsForLessThanAPoll)
            throws Exception {
        Permits permits = permits(SqsContainerOptions.builder().backPressureMode(mode));
        assertThat(permits.request(SHORT)).isEqualTo(10);
        permits.release(4, ReleaseReason.PARTIAL_FETCH);
        permits.release(2, ReleaseReason.PROCESSED);

        assertThat(permits.request(SHORT)).isEqualTo(permitsForLessThanAPoll);
    }

    /**
     * Each waiting poll on an idle queue costs money, and several waiting polls receive messages no sooner than one
     * poll would.
     */
    @ParameterizedTest
    @CsvSource({"AUTO, 1", "FIXED_HIGH_THROUGHPUT, 10", "ALWAYS_POLL_MAX_MESSAGES, 1"})
    void onePollAtATimeWaitsWhereNoneBringsAnythingUnlessTheModeDiffers(BackPressureMode mode, int pollsAtATime)
            throws Exception {
        Permits permits = permits(SqsContainerOptions.builder().backPressureMode(mode));
        assertThat(permits.mostPolls()).isEqualTo(pollsAtATime);

        permits.release(permits.request(SHORT) - 1, ReleaseReason.PARTIAL_FETCH);
        permits.release(1, ReleaseReason.PROCESSED);
        assertThat(permits.mostPolls()).as("a message came").isEqualTo(10);

        permits.release(permits.request(SHORT), ReleaseReason.NONE_FETCHED);
        assertThat(permits.mostPolls()).as("and then none").isEqualTo(pollsAtATime);
    }

    @Test
    void applicationsOwnLimitsApplyWhileTheGateIsOpen() throws Exception {
        Permits permits = permits(SqsContainerOptions.builder()
                .backPressureHandlerFactory(options -> ConcurrencyLimiterBlockingBackPressureHandler.builder()
                        .batchSize(4)
                        .totalPermits(4)
                        .acquireTimeout(SHORT)
                        .build()));

        assertThat(permits.request(SHORT)).isEqualTo(4);
        assertThat(permits.mostPolls()).as("is not ours to say").isEqualTo(10);
        assertThat(permits.request(SHORT)).isZero();
        assertThat(permits.drain(SHORT)).isFalse();
        permits.release(4, ReleaseReason.PROCESSED);

        assertThat(permits.request(SHORT)).isEqualTo(4);
        permits.release(4, ReleaseReason.PROCESSED);
        assertThat(permits.drain(SHORT)).isTrue();
    }
}

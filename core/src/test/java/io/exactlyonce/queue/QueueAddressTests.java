package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

class QueueAddressTests {

    /**
     * A client that shows its endpoint. If the endpoint is {@code null}, the client shows nothing, as a wrapper does.
     */
    private record Client(@Nullable String endpoint) implements SqsAsyncClient {

        @Override
        public SqsServiceClientConfiguration serviceClientConfiguration() {
            if (endpoint == null) {
                throw new UnsupportedOperationException();
            }
            return SqsServiceClientConfiguration.builder()
                    .endpointOverride(URI.create(endpoint))
                    .build();
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }

    private static QueueAddress found(@Nullable String endpoint, String url, String arn) {
        SqsQueue queue = new SqsQueue(new Client(endpoint), url, VisibilityWindow.ofSeconds(30));
        queue.watch(new QueueAttributes(Map.of(QueueAttributeName.QUEUE_ARN, arn)), read -> {});
        return QueueAddress.of(queue);
    }

    @ParameterizedTest
    @CsvSource({
        "orders, orders",
        "orders.fifo, orders.fifo",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo, orders.fifo",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/orders//, orders",
        "arn:aws:sqs:eu-west-1:123456789012:orders, orders",
        "arn:aws:sqs:::orders, orders",
        "arn:aws:sns:eu-west-1:123456789012:orders, orders",
        "arn::sqs:eu-west-1:123456789012:orders, orders",
        "arn:aws::eu-west-1:123456789012:orders, orders",
        "arn:aws:sqs:eu-west-1:123456789012::, ''",
        "arn:aws:sqs:eu-west-1:123456789012:/, ''",
        "arn:aws:sqs, sqs",
        "arn:, ''",
        "'', ''",
        "/, ''"
    })
    void nameIsTheLastPartOfUrlAndArn(String queue, String name) {
        assertThat(QueueAddress.name(queue)).isEqualTo(name);
        assertThat(QueueAddress.configured(queue).name()).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "https://sqs.eu-central-1.amazonaws.com/123456789012/orders, https://sqs.us-east-1.amazonaws.com/123456789012/orders",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/orders, https://sqs.eu-central-1.amazonaws.com/210987654321/orders",
        "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/orders, https://sqs.cn-northwest-1.amazonaws.com.cn/123456789012/orders",
        "https://sqs.us-gov-west-1.amazonaws.com/123456789012/orders, https://sqs.us-gov-east-1.amazonaws.com/123456789012/orders",
        "arn:aws:sqs:eu-central-1:123456789012:orders, https://sqs.us-east-1.amazonaws.com/123456789012/orders",
        "arn:aws:sqs:eu-central-1:123456789012:orders, https://queue.amazonaws.com/123456789012/orders",
        "arn:aws:sqs:eu-central-1:123456789012:orders, arn:aws:sqs:eu-central-1:210987654321:orders",
        "orders, orders.fifo",
        "orders, returns"
    })
    void textsOfListenersNameTwoQueues(String one, String other) {
        assertThat(QueueAddress.configured(one).differsFrom(QueueAddress.configured(other)))
                .isTrue();
        assertThat(QueueAddress.configured(other).differsFrom(QueueAddress.configured(one)))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "orders, orders",
        "orders, https://sqs.us-east-1.amazonaws.com/123456789012/orders",
        "orders, arn:aws:sqs:eu-central-1:123456789012:orders",
        "arn:aws:sqs:::orders, arn:aws:sqs:eu-central-1:123456789012:orders",
        "arn:aws:sqs:eu-central-1:123456789012:orders, https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
        "https://SQS.EU-CENTRAL-1.amazonaws.com/123456789012/orders/, https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
        "https://eu-central-1.queue.amazonaws.com/123456789012/orders, https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
        "https://sqs-fips.us-east-1.amazonaws.com/123456789012/orders, https://queue.amazonaws.com/123456789012/orders",
        "https://vpce-0a1b-2c3d.sqs.eu-central-1.vpce.amazonaws.com/123456789012/orders, https://sqs.eu-central-1.api.aws/123456789012/orders",
        "http://localhost:4566/000000000000/orders, http://localstack:4566/000000000000/orders",
        "http:orders, orders"
    })
    void textsOfListenersMayNameOneQueue(String one, String other) {
        assertThat(QueueAddress.configured(one).differsFrom(QueueAddress.configured(other)))
                .isFalse();
        assertThat(QueueAddress.configured(other).differsFrom(QueueAddress.configured(one)))
                .isFalse();
    }

    private static final String EU = "arn:aws:sqs:eu-central-1:000000000000:orders";
    private static final String US = "arn:aws:sqs:us-east-1:000000000000:orders";

    @Test
    void queuesOfOneEmulatorInTwoRegionsAreTwo() {
        QueueAddress eu = found("http://localhost:4566", "http://localhost:4566/000000000000/orders", EU);
        QueueAddress us = found("http://localhost:4566", "http://localhost:4566/000000000000/orders", US);

        assertThat(eu.differsFrom(us)).isTrue();
    }

    @Test
    void queuesOfTwoEmulatorsAreTwo() {
        QueueAddress one = found("http://127.0.0.1:9324", "http://127.0.0.1:9324/000000000000/orders", EU);
        QueueAddress other = found("http://127.0.0.1:9325", "http://127.0.0.1:9325/000000000000/orders", EU);

        assertThat(one.differsFrom(other)).isTrue();
    }

    @Test
    void queuesOfAnEmulatorAndOfAwsAreTwo() {
        QueueAddress local = found("http://localhost:4566", "http://localhost:4566/000000000000/orders", EU);
        QueueAddress aws = found(null, "https://sqs.eu-central-1.amazonaws.com/000000000000/orders", EU);

        assertThat(local.differsFrom(aws)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "http://127.0.0.1:9324, http://localhost:9324/000000000000/orders",
        "http://LOCALHOST:9324, http://127.0.0.1:9324/000000000000/orders/",
        "http://localhost:9324, http://elasticmq:9324/000000000000/orders",
        ", http://[::1]:9324/000000000000/orders"
    })
    void spellingsOfOneServerAreOneQueue(@Nullable String endpoint, String url) {
        QueueAddress one = found("http://localhost:9324", "http://localhost:9324/000000000000/orders", EU);

        assertThat(found(endpoint, url, EU).differsFrom(one)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"https://localhost, https://localhost:443", "http://localhost, http://localhost:80"})
    void usualPortMayBeLeftOut(String without, String with) {
        assertThat(QueueAddress.ofUrl(without + "/1/orders")).isEqualTo(QueueAddress.ofUrl(with + "/1/orders"));
    }

    @Test
    void vpcEndpointLeadsToAws() {
        QueueAddress behind = found(
                "https://vpce-1a-2b.sqs.eu-central-1.vpce.amazonaws.com",
                "https://sqs.eu-central-1.amazonaws.com/000000000000/orders",
                EU);

        assertThat(behind.differsFrom(found(null, "https://eu-central-1.queue.amazonaws.com/000000000000/orders", EU)))
                .isFalse();
        assertThat(behind.differsFrom(found(null, "https://sqs.us-east-1.amazonaws.com/000000000000/orders", US)))
                .isTrue();
    }
}

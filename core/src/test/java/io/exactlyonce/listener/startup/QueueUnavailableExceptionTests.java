package io.exactlyonce.listener.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.awspring.cloud.sqs.operations.BatchingSqsClientAdapter;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.queue.ClientAbilities;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.batchmanager.SqsAsyncBatchManager;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.SqsException;

class QueueUnavailableExceptionTests {

    private static void require(SqsAsyncClient client) {
        QueueUnavailableException.requireComplete(client, "orders", "fulfilment");
    }

    /**
     * The client implements only the operations of a sender. All other operations throw an exception without a message.
     */
    @Test
    void clientThatBatchesRequestsIsNamedWithWhatItLacks() {
        SqsAsyncClient batching = new BatchingSqsClientAdapter(mock(SqsAsyncBatchManager.class));

        assertThatThrownBy(() -> require(batching))
                .isInstanceOfSatisfying(
                        QueueUnavailableException.class,
                        refused -> assertThat(refused.remedy()).contains("the one that BatchingSqsClientAdapter wraps"))
                .hasMessageContaining(
                        "Queue 'orders' of listener 'fulfilment' is not available: its SqsAsyncClient, of "
                                + "class io.awspring.cloud.sqs.operations.BatchingSqsClientAdapter, does not implement "
                                + "changeMessageVisibilityBatch, deleteMessageBatch, getQueueAttributes, getQueueUrl")
                .hasMessageNotContainingAny("null", "region", "credentials");
    }

    @Test
    void completeClientsAndTheirProxiesPass() {
        FakeReceives complete = new FakeReceives();
        Object proxy = Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {SqsAsyncClient.class},
                (self, method, arguments) -> method.invoke(complete, arguments));

        assertThatCode(() -> require(complete)).doesNotThrowAnyException();
        assertThatCode(() -> require((SqsAsyncClient) proxy)).doesNotThrowAnyException();
        assertThatCode(() -> require(mock(SqsAsyncClient.class))).doesNotThrowAnyException();
        assertThat(ClientAbilities.configuration(complete)).isEmpty();
    }

    /** A client that overrides {@code getQueueUrl}, and whose override throws. */
    private static final class Sender implements SqsAsyncClient {

        @Override
        public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }

    @Test
    void clientWhoseOwnMethodIsUnsupportedIsNamedToo() {
        Sender sender = new Sender();
        Throwable failure = null;
        try {
            sender.getQueueUrl(GetQueueUrlRequest.builder().build());
        } catch (UnsupportedOperationException unsupported) {
            failure = unsupported;
        }

        assertThat(QueueUnavailableException.by(sender, "orders", "fulfilment", new CompletionException(failure)))
                .hasMessageContaining("Sender, does not implement getQueueUrl");
    }

    /** If a request's signature does not match, the answer of SQS quotes the request with the session's token. */
    @Test
    void tokenThatAnAnswerQuotesIsLeftOut() {
        Exception refused = SqsException.builder()
                .message("The Canonical String for this request should have been 'POST x-amz-security-token:AQEB4711'")
                .statusCode(403)
                .build();

        assertThat(QueueUnavailableException.by(new FakeReceives(), "orders", "fulfilment", refused))
                .hasMessageContaining("should have been '...'")
                .hasMessageNotContaining("AQEB4711");
    }

    @Test
    void failureWithoutAMessageIsNamedByItsClass() {
        Exception unsupportedElsewhere = new UnsupportedOperationException();

        assertThat(QueueUnavailableException.by(new FakeReceives(), "orders", "fulfilment", unsupportedElsewhere))
                .hasMessageContaining("The lookup failed with: java.lang.UnsupportedOperationException");
    }

    @Test
    void endpointIsShownWithoutWhatMayBeSecret() {
        QueueUnavailableException failure = new QueueUnavailableException(
                "orders",
                "fulfilment",
                "eu-west-1",
                URI.create("http://me:hunter2@sqs.local:4566/hunter2?token=hunter2#hunter2"),
                new CompletionException(new IOException("refused")));

        assertThat(failure.getMessage() + failure.remedy())
                .contains("http://sqs.local:4566")
                .doesNotContain("hunter2");
    }
}

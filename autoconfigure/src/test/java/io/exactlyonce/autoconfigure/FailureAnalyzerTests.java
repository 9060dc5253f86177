package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.listener.startup.ListenerFailures;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.support.GenericApplicationContext;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SqsException;

class FailureAnalyzerTests {

    private final GenericApplicationContext context = new GenericApplicationContext();

    @Test
    void invalidListenerIsExplainedHoweverDeepItIs() {
        Throwable failure = new BeanCreationException(
                "orderListener",
                "Initialization failed",
                ListenerFailures.invalidListener("Listener 'orders' has no queue", "name one"));

        FailureAnalysis analysis = FailureReport.of(failure, context);

        assertThat(analysis.getDescription()).isEqualTo("Listener 'orders' has no queue");
        assertThat(analysis.getAction()).isEqualTo("name one");
    }

    private FailureAnalysis ofQueue(@Nullable String endpoint, Throwable cause) {
        return FailureReport.of(
                new ApplicationContextException(
                        "Failed to start bean 'endpointRegistry'",
                        ListenerFailures.queueUnavailable("orders", "fulfilment", endpoint, cause)),
                context);
    }

    private static SqsException refusal(String message) {
        return (SqsException)
                SqsException.builder().statusCode(403).message(message).build();
    }

    @Test
    void missingQueueIsExplainedByItsRegionItsAccountAndItsListener() {
        FailureAnalysis analysis = ofQueue(
                null,
                new IllegalStateException(
                        "start failed",
                        QueueDoesNotExistException.builder()
                                .message("no such queue")
                                .build()));

        assertThat(analysis.getDescription())
                .isEqualTo("Queue 'orders' of listener 'fulfilment' is not available: there is no such queue (region"
                        + " eu-central-1, endpoint of AWS for that region, as none is set)."
                        + " The lookup failed with: no such queue");
        assertThat(analysis.getAction())
                .contains("Create the queue 'orders' with a dead-letter queue")
                .contains("queueNames of the listener 'fulfilment'")
                .contains("in another region than 'eu-central-1' or in another account")
                .contains("spring.cloud.aws.sqs.queue-not-found-strategy=create");
    }

    @Test
    void hostThatDnsDoesNotKnowIsARegionsUnlessAnEndpointIsSet() {
        Throwable unknown = SdkClientException.create("", new UnknownHostException("sqs.eu-central-1.amazonaws.com"));

        assertThat(ofQueue(null, unknown).getAction())
                .startsWith("Correct the region 'eu-central-1' in spring.cloud.aws.region.static");
        assertThat(ofQueue("http://localstak:4566", unknown).getAction())
                .startsWith("Correct the host of http://localstak:4566 in spring.cloud.aws.sqs.endpoint");
    }

    @Test
    void serverThatDoesNotAnswerIsABlockedNetworkUnlessAnEndpointIsSet() {
        Throwable silence = SdkClientException.create("", new ConnectException("Connection timed out"));

        assertThat(ofQueue(null, silence).getAction())
                .startsWith("Let this machine reach SQS in region 'eu-central-1'");
        assertThat(ofQueue("http://localhost:4566", silence).getAction())
                .startsWith("Start the SQS server at http://localhost:4566");
    }

    /** A failed connection attempt may also end this way, for example a refused one on a busy machine. */
    @Test
    void connectionThatIsNotAcquiredIsAServerThatDoesNotAnswer() {
        Throwable failure = SdkClientException.create("", new Throwable("pool", new TimeoutException("10000 ms")));

        assertThat(ofQueue(null, failure).getDescription()).contains("no SQS server answers (region eu-central-1");
    }

    @Test
    void refusedCredentialsAreExplainedByTheRightsThatTheyNeed() {
        FailureAnalysis analysis = ofQueue(null, refusal("The security token included in the request is invalid."));

        assertThat(analysis.getDescription()).contains("SQS rejects the credentials", "security token");
        assertThat(analysis.getAction()).contains("sqs:GetQueueUrl and sqs:GetQueueAttributes on the queue 'orders'");
    }

    @Test
    void signatureOfAnotherRegionIsExplainedByBothRegionAndEndpoint() {
        FailureAnalysis analysis = ofQueue(
                "https://sqs.eu-west-1.amazonaws.com",
                refusal("Credential should be scoped to a valid region, not 'eu-central-1'."));

        assertThat(analysis.getDescription())
                .contains("region eu-central-1, endpoint https://sqs.eu-west-1.amazonaws.com");
        assertThat(analysis.getAction()).contains("to the queue's region, instead of 'eu-central-1', or remove");
    }

    @Test
    void failureOfAnotherKindNamesAllThatMayBeWrong() {
        FailureAnalysis analysis = ofQueue(null, new IllegalArgumentException("no idea"));

        assertThat(analysis.getDescription()).endsWith("The lookup failed with: no idea");
        assertThat(analysis.getAction()).contains("region, endpoint and credentials", "queue 'orders'", "'fulfilment'");
    }

    @Test
    void otherFailuresOfTheSdkAreNotTakenForAMissingRegion() {
        assertThatThrownBy(() -> FailureReport.of(SdkClientException.create("Unable to execute HTTP request"), context))
                .hasMessage("Nothing explains this failure");
    }
}

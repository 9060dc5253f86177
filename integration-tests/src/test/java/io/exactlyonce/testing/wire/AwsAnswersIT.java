package io.exactlyonce.testing.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.SqsServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Asserts that the proxy in front of ElasticMQ gives the SDK's client the answers that AWS documents. The test moves
 * the clock by which the proxy applies SQS's time limits.
 */
@Tag("ci")
class AwsAnswersIT {

    private static final int WINDOW_SECONDS = 30;
    private static final int TWELVE_HOURS = 43_200;
    private static final FakeClock CLOCK = new FakeClock();
    private static final SqsServer SQS = SqsServer.through(new AwsAnswers(SqsServer.elasticMq(), CLOCK));

    private final SqsClient client = SQS.client();
    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String fifo = SQS.createFifoQueue(WINDOW_SECONDS, 3);

    @AfterEach
    void deleteQueues() {
        SQS.deleteQueue(queue);
        SQS.deleteQueue(fifo);
        SQS.deleteQueue(SqsServer.deadLettersOf(fifo));
    }

    private String receive(String name) {
        List<Message> messages = client.receiveMessage(
                        request -> request.queueUrl(SQS.urlOf(name)).waitTimeSeconds(5))
                .messages();
        assertThat(messages).hasSize(1);
        return messages.get(0).receiptHandle();
    }

    private String sendAndReceive() {
        SQS.send(queue, "o1");
        return receive(queue);
    }

    private String sendAndReceiveOfGroup() {
        SQS.send(fifo, "a", "1", "o1");
        return receive(fifo);
    }

    /** Returns the handle of another consumer, which received the message after its visibility timeout. */
    private String receiveAgain(String name, String handle) {
        change(name, handle, 0);
        return receive(name);
    }

    private void delete(String name, String handle) {
        client.deleteMessage(request -> request.queueUrl(SQS.urlOf(name)).receiptHandle(handle));
    }

    private void change(String name, String handle, int seconds) {
        client.changeMessageVisibility(request ->
                request.queueUrl(SQS.urlOf(name)).receiptHandle(handle).visibilityTimeout(seconds));
    }

    private static void assertRefused(ThrowingCallable call, String code, String reason) {
        assertThatExceptionOfType(SqsException.class).isThrownBy(call).satisfies(refusal -> {
            assertThat(refusal.statusCode()).isEqualTo(400);
            assertThat(refusal.awsErrorDetails().errorCode()).isEqualTo(code);
            assertThat(refusal.awsErrorDetails().errorMessage()).contains(reason);
        });
    }

    private static void assertInvalid(ThrowingCallable call, String reason) {
        assertRefused(call, "InvalidParameterValue", reason);
    }

    @Test
    void deleteWithTheHandleOfAnEarlierReceiveSucceedsAndTheMessageStays() {
        String old = sendAndReceive();
        String newest = receiveAgain(queue, old);

        delete(queue, old);
        assertThat(SQS.size(queue)).isEqualTo(1);

        delete(queue, newest);
        assertThat(SQS.size(queue)).isZero();
    }

    @Test
    void deletedMessageMayBeDeletedAgain() {
        String handle = sendAndReceive();
        delete(queue, handle);
        delete(queue, handle);

        String ofGroup = sendAndReceiveOfGroup();
        delete(fifo, ofGroup);
        delete(fifo, ofGroup);
    }

    @Test
    void batchOfDeletesSucceedsForWhatIsGone() {
        String old = sendAndReceive();
        String newest = receiveAgain(queue, old);
        delete(queue, newest);
        String other = sendAndReceive();

        DeleteMessageBatchResponse answer = client.deleteMessageBatch(request -> request.queueUrl(SQS.urlOf(queue))
                .entries(
                        deleted("gone", newest),
                        deleted("old", old),
                        deleted("other", other),
                        deleted("bad", "nonsense")));

        assertThat(answer.successful())
                .extracting(DeleteMessageBatchResultEntry::id)
                .containsExactlyInAnyOrder("gone", "old", "other");
        assertThat(answer.failed())
                .extracting(BatchResultErrorEntry::id, BatchResultErrorEntry::code)
                .containsExactly(tuple("bad", "ReceiptHandleIsInvalid"));
        assertThat(SQS.size(queue)).isZero();
    }

    private static DeleteMessageBatchRequestEntry deleted(String id, String handle) {
        return DeleteMessageBatchRequestEntry.builder()
                .id(id)
                .receiptHandle(handle)
                .build();
    }

    @Test
    void handleOfAFifoQueueExpiresWithItsVisibilityTimeout() {
        String handle = sendAndReceiveOfGroup();
        CLOCK.advance(Duration.ofSeconds(WINDOW_SECONDS));

        assertInvalid(() -> delete(fifo, handle), "The receipt handle has expired");
        assertInvalid(() -> change(fifo, handle, 0), "The receipt handle has expired");
        assertThat(SQS.size(fifo)).isEqualTo(1);
    }

    @Test
    void handleOfAFifoQueueExpiresWithAnotherReceive() {
        String old = sendAndReceiveOfGroup();
        String newest = receiveAgain(fifo, old);

        assertInvalid(() -> delete(fifo, old), "The receipt handle has expired");
        assertInvalid(() -> change(fifo, old, 0), "The receipt handle has expired");
        delete(fifo, newest);
        assertThat(SQS.size(fifo)).isZero();
    }

    /** A worker that continues after its visibility timeout is dangerous for this reason. */
    @Test
    void oldHandleExposesTheMessageThatAnotherConsumerHas() {
        String old = sendAndReceive();
        receiveAgain(queue, old);
        assertThat(SQS.visible(queue)).isZero();

        change(queue, old, 0);

        assertThat(SQS.visible(queue)).isEqualTo(1);
    }

    @Test
    void oldHandleHidesTheMessageThatAnotherConsumerHas() {
        String old = sendAndReceive();
        String newest = receiveAgain(queue, old);
        change(queue, old, 100);
        CLOCK.advance(Duration.ofSeconds(WINDOW_SECONDS + 1));

        change(queue, newest, 1);
    }

    @Test
    void visibilityOfADeletedMessageCannotBeChanged() {
        String handle = sendAndReceive();
        delete(queue, handle);

        assertInvalid(() -> change(queue, handle, 10), "Message does not exist or is not available");
    }

    @Test
    void visibilityOfAVisibleMessageCannotBeChanged() {
        String handle = sendAndReceive();
        CLOCK.advance(Duration.ofSeconds(WINDOW_SECONDS));

        assertRefused(() -> change(queue, handle, 10), "AWS.SimpleQueueService.MessageNotInflight", "isn't in flight");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, TWELVE_HOURS + 1})
    void visibilityHasItsBounds(int seconds) {
        String handle = sendAndReceive();

        assertInvalid(() -> change(queue, handle, seconds), "Must be between 0 and 43200");
    }

    @Test
    void visibilityEndsTwelveHoursAfterTheReceive() {
        String handle = sendAndReceive();
        CLOCK.advance(Duration.ofSeconds(10));

        change(queue, handle, TWELVE_HOURS - 10);
        assertInvalid(() -> change(queue, handle, TWELVE_HOURS - 9), "beyond the limit");
    }

    @Test
    void batchOfChangesIsAnsweredEntryByEntry() {
        String gone = sendAndReceive();
        delete(queue, gone);
        String old = sendAndReceive();
        String newest = receiveAgain(queue, old);

        var answer = client.changeMessageVisibilityBatch(request -> request.queueUrl(SQS.urlOf(queue))
                .entries(
                        changed("gone", gone, 10), changed("long", newest, TWELVE_HOURS + 1), changed("old", old, 10)));

        assertThat(answer.failed())
                .extracting(BatchResultErrorEntry::id, BatchResultErrorEntry::code, BatchResultErrorEntry::senderFault)
                .containsExactlyInAnyOrder(
                        tuple("gone", "InvalidParameterValue", true), tuple("long", "InvalidParameterValue", true));
        assertThat(answer.successful())
                .singleElement()
                .satisfies(entry -> assertThat(entry.id()).isEqualTo("old"));
    }

    private static ChangeMessageVisibilityBatchRequestEntry changed(String id, String handle, int seconds) {
        return ChangeMessageVisibilityBatchRequestEntry.builder()
                .id(id)
                .receiptHandle(handle)
                .visibilityTimeout(seconds)
                .build();
    }

    /** ElasticMQ moves the message at the receive after the last permitted one. */
    @Test
    void messageInTheDeadLetterQueueIsGoneFromItsQueue() {
        String deadLetters = SQS.createQueue(WINDOW_SECONDS);
        String redriven = SQS.createQueue(WINDOW_SECONDS, deadLetters, 1);
        SQS.send(redriven, "o1");
        String handle = receive(redriven);
        change(redriven, handle, 0);
        assertThat(client.receiveMessage(request -> request.queueUrl(SQS.urlOf(redriven)))
                        .messages())
                .isEmpty();

        delete(redriven, handle);
        assertThat(SQS.size(deadLetters)).isEqualTo(1);
        SQS.deleteQueue(redriven);
        SQS.deleteQueue(deadLetters);
    }

    @Test
    void batchWithoutEntriesIsRefused() {
        assertRefused(
                () -> client.deleteMessageBatch(
                        request -> request.queueUrl(SQS.urlOf(queue)).entries(List.of())),
                "AWS.SimpleQueueService.EmptyBatchRequest",
                "any entries");
    }

    @Test
    void handleThatNeverWasOneIsInvalid() {
        assertRefused(() -> delete(queue, "nonsense"), "ReceiptHandleIsInvalid", "");
        assertRefused(() -> change(queue, "nonsense", 1), "ReceiptHandleIsInvalid", "");
    }

    @Test
    void queueHasAllOfItsAttributes() {
        Map<QueueAttributeName, String> attributes = client.getQueueAttributes(
                        request -> request.queueUrl(SQS.urlOf(queue)).attributeNames(QueueAttributeName.ALL))
                .attributes();

        assertThat(attributes)
                .containsEntry(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "345600")
                .containsEntry(QueueAttributeName.MAXIMUM_MESSAGE_SIZE, "1048576")
                .containsEntry(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(WINDOW_SECONDS));
    }

    @ParameterizedTest
    @EnumSource(AwsRule.class)
    void documentationHasEachRule(AwsRule rule) {
        String row = rule.name().toLowerCase(Locale.ROOT).replace('_', ' ');

        assertThat(DocumentedCode.of("contributing/sqs-answers.md").part("(?i)\\| (%s) \\|".formatted(row)))
                .isEqualToIgnoringCase(row);
    }
}

package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.QueueVisibility.Result;
import java.net.URL;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;

class SqsQueueTests {

    private static final String URL = "http://localhost/000000000000/orders";

    private final FakeSqs sqs = new FakeSqs();
    private final SqsQueue visibility = new SqsQueue(sqs, URL, VisibilityWindow.ofSeconds(30));

    @Test
    void changesGoInBatchesOfTen() {
        Map<String, Result> results = visibility.change(changes(23)).join().results();

        assertThat(sqs.requests).extracting(request -> request.entries().size()).containsExactly(10, 10, 3);
        assertThat(sqs.requests)
                .extracting(ChangeMessageVisibilityBatchRequest::queueUrl)
                .containsOnly(URL);
        assertThat(sqs.requests.get(2).entries())
                .extracting(
                        ChangeMessageVisibilityBatchRequestEntry::receiptHandle,
                        ChangeMessageVisibilityBatchRequestEntry::visibilityTimeout)
                .containsExactly(tuple("handle-20", 50), tuple("handle-21", 51), tuple("handle-22", 52));
        assertThat(results).hasSize(23).containsEntry("handle-22", Result.CHANGED);
        assertThat(results.values()).containsOnly(Result.CHANGED);
    }

    /** SQS refuses a request without entries. */
    @Test
    void fullBatchIsFollowedByNoEmptyOne() {
        visibility.change(changes(10)).join();

        assertThat(sqs.requests).hasSize(1);
    }

    @Test
    void entriesThatFailedInsideASuccessfulResponseAreReported() {
        sqs.answer = request -> CompletableFuture.completedFuture(ChangeMessageVisibilityBatchResponse.builder()
                .failed(failed(request, 1, true), failed(request, 2, false))
                .build());

        assertThat(visibility.change(changes(4)).join().results())
                .containsOnly(
                        Map.entry("handle-0", Result.CHANGED),
                        Map.entry("handle-1", Result.REFUSED),
                        Map.entry("handle-2", Result.FAILED),
                        Map.entry("handle-3", Result.CHANGED));
    }

    @ParameterizedTest
    @CsvSource({"1, 500", "30, 5000", "43200, 10000"})
    void requestThatHangsIsGivenUpInTimeForAnother(long windowSeconds, long millis) {
        new SqsQueue(sqs, URL, VisibilityWindow.ofSeconds(windowSeconds))
                .change(changes(1))
                .join();

        assertThat(sqs.requests.get(0).overrideConfiguration())
                .get()
                .extracting(limits -> limits.apiCallTimeout().orElseThrow())
                .isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void throttledEntryMayBeTriedAgain() {
        sqs.answer = request -> CompletableFuture.completedFuture(ChangeMessageVisibilityBatchResponse.builder()
                .failed(failed(request, 0, true).toBuilder()
                        .code("RequestThrottled")
                        .build())
                .build());

        assertThat(visibility.change(changes(1)).join().results()).containsOnly(Map.entry("handle-0", Result.FAILED));
    }

    @Test
    void requestThatFailsFailsAllOfItsMessagesAndNoOthers() {
        sqs.answer = request -> request.entries().size() < 10
                ? CompletableFuture.failedFuture(new IllegalStateException("throttled"))
                : FakeSqs.ok();

        Answers answers = visibility.change(changes(12)).join();

        assertThat(answers.of("handle-10")).isEqualTo(Result.FAILED);
        assertThat(answers.of("handle-11")).isEqualTo(Result.FAILED);
        assertThat(answers.results().values()).hasSize(10).containsOnly(Result.CHANGED);
        assertThat(answers.failure()).hasMessage("throttled");
    }

    @Test
    void requestThatThrowsFailsAllOfItsMessages() {
        sqs.answer = request -> {
            throw new IllegalStateException("connection pool shut down");
        };

        Answers answers = visibility.change(changes(2)).join();

        assertThat(answers.of("handle-0")).isEqualTo(Result.FAILED);
        assertThat(answers.of("handle-1")).isEqualTo(Result.FAILED);
        assertThat(answers.failure()).hasMessage("connection pool shut down");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "2", "-1", "01", "two", "99999999999", "2\nFORGED"})
    void entryThatWasNotSentCostsNoOtherOneItsAnswer(String id) {
        sqs.answer = request -> CompletableFuture.completedFuture(ChangeMessageVisibilityBatchResponse.builder()
                .failed(
                        BatchResultErrorEntry.builder().id(id).build(),
                        BatchResultErrorEntry.builder().build(),
                        failed(request, 1, true))
                .build());

        assertThat(visibility.change(changes(2)).join().results())
                .containsOnly(Map.entry("handle-0", Result.CHANGED), Map.entry("handle-1", Result.REFUSED));
    }

    /** A receipt handle is enough to delete its message. */
    @Test
    void receiptHandleThatAnEntryQuotesIsNotLogged() {
        sqs.answer = request -> CompletableFuture.completedFuture(ChangeMessageVisibilityBatchResponse.builder()
                .failed(failed(request, 0, true).toBuilder()
                        .code("ReceiptHandleIsInvalid")
                        .message("The receipt handle \"handle-0\" is not valid for this queue.")
                        .build())
                .build());

        try (CapturedLog log = new CapturedLog(SqsQueue.class)) {
            visibility.change(changes(1)).join();

            assertThat(log.text())
                    .contains("ReceiptHandleIsInvalid", "is not valid for this queue")
                    .doesNotContain("handle-0");
        }
    }

    @Test
    void deleteThatHangsIsGivenUp() {
        visibility.delete(List.of("handle-0")).join();

        assertThat(sqs.delete.overrideConfiguration())
                .get()
                .extracting(limits -> limits.apiCallTimeout().orElseThrow())
                .isEqualTo(Duration.ofMinutes(1));
    }

    private static List<Change> changes(int count) {
        return IntStream.range(0, count)
                .mapToObj(index -> new Change("handle-" + index, 30 + index))
                .toList();
    }

    private static BatchResultErrorEntry failed(
            ChangeMessageVisibilityBatchRequest request, int index, boolean senderFault) {
        return BatchResultErrorEntry.builder()
                .id(request.entries().get(index).id())
                .senderFault(senderFault)
                .code("code")
                .message("message")
                .build();
    }

    private static final class FakeSqs implements SqsAsyncClient {

        private final List<ChangeMessageVisibilityBatchRequest> requests = new ArrayList<>();
        private DeleteMessageBatchRequest delete =
                DeleteMessageBatchRequest.builder().build();
        private Function<ChangeMessageVisibilityBatchRequest, CompletableFuture<ChangeMessageVisibilityBatchResponse>>
                answer = request -> ok();

        static CompletableFuture<ChangeMessageVisibilityBatchResponse> ok() {
            return CompletableFuture.completedFuture(
                    ChangeMessageVisibilityBatchResponse.builder().build());
        }

        @Override
        public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
                ChangeMessageVisibilityBatchRequest request) {
            requests.add(request);
            return answer.apply(request);
        }

        @Override
        public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
            delete = request;
            return CompletableFuture.completedFuture(
                    DeleteMessageBatchResponse.builder().build());
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }
}

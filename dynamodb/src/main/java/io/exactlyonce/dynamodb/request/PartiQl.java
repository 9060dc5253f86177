package io.exactlyonce.dynamodb.request;

import io.exactlyonce.boundary.AwsText;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimStatements.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/**
 * Sends conditional writes of different items, up to 25 in one request. Each write has its own answer.
 *
 * <p>If the answer to a write is lost, the write is sent again. Its condition then fails, because the first write has
 * changed the item. If the item now has the version of this write, the write counts as done.
 */
public final class PartiQl {

    /** Maximum number of statements in one request, as DynamoDB permits. */
    public static final int MOST_STATEMENTS = 25;

    private static final Answer MISSING =
            new Failed(new ClaimStoreUnavailableException("DynamoDB answered fewer statements than were sent", null));

    private final DynamoDbAsyncClient client;

    /** The result of one write. */
    public sealed interface Answer {}

    /** The write is done, by this request or by an earlier one. */
    public record Written() implements Answer {}

    /**
     * Nothing was written, because the item did not meet the write's condition.
     *
     * @param item the current item, or {@code null} if there is none
     */
    public record Differs(@Nullable ClaimItem item) implements Answer {}

    /**
     * Nothing was written, because an insert found an existing item. DynamoDB does not return the item in this case.
     */
    public record Taken() implements Answer {}

    /**
     * DynamoDB refused the write for now, and the write can be sent again. If DynamoDB reported an internal error, the
     * item may have been written all the same.
     *
     * @param reason DynamoDB's error code and message
     * @param isLocked whether an application transaction locks the item
     */
    public record Again(String reason, boolean isLocked) implements Answer {}

    /**
     * The write failed, and an immediate retry would not help.
     *
     * @param why the exception that the store throws. If it is an {@link IllegalArgumentException}, the write can never
     *     succeed. If not, the write may or may not have happened
     */
    public record Failed(RuntimeException why) implements Answer {}

    public PartiQl(DynamoDbAsyncClient client) {
        this.client = client;
    }

    /** Converts the failure of a request to the exception that the store throws. */
    public static ClaimStoreUnavailableException unanswered(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return new ClaimStoreUnavailableException("DynamoDB did not answer: " + AwsText.messageOf(cause), cause);
    }

    /**
     * Sends writes, and returns one answer for each, in the same order. The future never fails: an answer can be {@link
     * Failed}.
     */
    CompletableFuture<List<Answer>> write(List<Statement> statements) {
        return inParts(statements, MOST_STATEMENTS, this::request);
    }

    /** Splits a list into requests of the permitted size, sends them all at once, and joins their answers in order. */
    static <T, A> CompletableFuture<List<A>> inParts(
            List<T> all, int most, Function<List<T>, CompletableFuture<List<A>>> request) {
        List<CompletableFuture<List<A>>> requests = new ArrayList<>();
        for (int from = 0; from < all.size(); from += most) {
            requests.add(request.apply(all.subList(from, Math.min(from + most, all.size()))));
        }
        return CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> {
                    List<A> answers = new ArrayList<>(all.size());
                    requests.forEach(part -> answers.addAll(part.join()));
                    return answers;
                });
    }

    private CompletableFuture<List<Answer>> request(List<Statement> statements) {
        List<BatchStatementRequest> requests = new ArrayList<>(statements.size());
        for (Statement statement : statements) {
            requests.add(BatchStatementRequest.builder()
                    .statement(statement.text())
                    .parameters(statement.parameters())
                    .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
                    .build());
        }
        return client.batchExecuteStatement(batch -> batch.statements(requests)).handle((response, failure) -> {
            if (failure != null) {
                return Collections.nCopies(statements.size(), new Failed(unanswered(failure)));
            }
            List<Answer> answers = new ArrayList<>(statements.size());
            for (int i = 0; i < statements.size(); i++) {
                answers.add(
                        i < response.responses().size()
                                ? read(statements.get(i), response.responses().get(i))
                                : MISSING);
            }
            return answers;
        });
    }

    /**
     * Reads the answer to one write. An unreadable answer fails only this write, and not the other writes of the
     * request.
     */
    private static Answer read(Statement statement, BatchStatementResponse response) {
        try {
            return answer(statement, response);
        } catch (RuntimeException unreadable) {
            return new Failed(ClaimItem.unreadable(unreadable));
        }
    }

    /**
     * Interprets the answer to one write. Failed writes come in a response with HTTP status 200, so the SDK does not
     * retry them.
     */
    private static Answer answer(Statement statement, BatchStatementResponse response) {
        BatchStatementError error = response.error();
        if (error == null) {
            return new Written();
        }
        String reason = error.codeAsString() + ": " + AwsText.withoutValues(String.valueOf(error.message()));
        return switch (Objects.requireNonNullElse(error.code(), BatchStatementErrorCodeEnum.UNKNOWN_TO_SDK_VERSION)) {
            case CONDITIONAL_CHECK_FAILED -> {
                ClaimItem item = error.hasItem() ? new ClaimItem(error.item()) : null;
                yield item != null && item.version().equals(statement.version()) ? new Written() : new Differs(item);
            }
            case DUPLICATE_ITEM -> new Taken();
            case TRANSACTION_CONFLICT -> new Again(reason, true);
            case PROVISIONED_THROUGHPUT_EXCEEDED, THROTTLING_ERROR, REQUEST_LIMIT_EXCEEDED, INTERNAL_SERVER_ERROR ->
                new Again(reason, false);
            case ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, VALIDATION_ERROR ->
                new Failed(new IllegalArgumentException("DynamoDB cannot store this: " + reason));
            default -> new Failed(new ClaimStoreUnavailableException("DynamoDB refused a write: " + reason, null));
        };
    }
}

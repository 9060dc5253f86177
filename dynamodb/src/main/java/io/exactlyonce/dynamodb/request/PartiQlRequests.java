package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.item.Names;
import io.exactlyonce.dynamodb.request.WriteAnswer.Again;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Failed;
import io.exactlyonce.dynamodb.request.WriteAnswer.Taken;
import io.exactlyonce.dynamodb.request.WriteAnswer.Unstorable;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/** Up to 25 conditional writes in one request, each with an answer of its own: {@code BatchExecuteStatement}. */
final class PartiQlRequests implements WriteRequests {

    /** The service's limit. */
    static final int MOST_STATEMENTS = 25;

    private final DynamoDbAsyncClient client;
    private final String table;

    PartiQlRequests(DynamoDbAsyncClient client, String table) {
        this.client = client;
        this.table = table;
    }

    @Override
    public CompletableFuture<List<WriteAnswer>> send(List<ItemWrite> writes) {
        List<CompletableFuture<List<WriteAnswer>>> requests = new ArrayList<>();
        for (int from = 0; from < writes.size(); from += MOST_STATEMENTS) {
            requests.add(request(writes.subList(from, Math.min(from + MOST_STATEMENTS, writes.size()))));
        }
        return Futures.all(requests)
                .thenApply(answers -> answers.stream().flatMap(List::stream).toList());
    }

    private CompletableFuture<List<WriteAnswer>> request(List<ItemWrite> writes) {
        List<BatchStatementRequest> statements =
                writes.stream().map(this::statement).toList();
        return client.batchExecuteStatement(request -> request.statements(statements))
                .handle((response, failure) -> failure == null
                        ? answers(response)
                        : writes.stream()
                                .<WriteAnswer>map(write -> new Failed(Futures.cause(failure)))
                                .toList());
    }

    private static List<WriteAnswer> answers(BatchExecuteStatementResponse response) {
        return response.responses().stream()
                .map(each -> each.error() == null ? new Written() : refused(each.error()))
                .toList();
    }

    /** HTTP says 200 for these, so the SDK repeats none of them. */
    private static WriteAnswer refused(BatchStatementError error) {
        String reason = error.codeAsString() + ": " + error.message();
        return switch (error.code()) {
            case CONDITIONAL_CHECK_FAILED -> new Differs(error.hasItem() ? new ClaimItem(error.item()) : null);
            case DUPLICATE_ITEM -> new Taken();
            case TRANSACTION_CONFLICT -> new Again(reason, true);
            case PROVISIONED_THROUGHPUT_EXCEEDED, THROTTLING_ERROR, REQUEST_LIMIT_EXCEEDED, INTERNAL_SERVER_ERROR ->
                new Again(reason, false);
            case ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, VALIDATION_ERROR -> new Unstorable(reason);
            default -> new Failed(DynamoDbException.builder().message(reason).build());
        };
    }

    private BatchStatementRequest statement(ItemWrite write) {
        return BatchStatementRequest.builder()
                .statement(write.isInsert() ? insert(write) : update(write))
                .parameters(parameters(write))
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
                .build();
    }

    private String insert(ItemWrite write) {
        return Stream.concat(Stream.of(Names.PK), write.set().keySet().stream())
                .map("'%s':?"::formatted)
                .collect(Collectors.joining(",", "INSERT INTO \"%s\" VALUE {".formatted(table), "}"));
    }

    private String update(ItemWrite write) {
        StringBuilder statement = new StringBuilder("UPDATE \"").append(table).append('"');
        write.set()
                .keySet()
                .forEach(name -> statement.append(" SET \"").append(name).append("\"=?"));
        write.removed()
                .forEach(name -> statement.append(" REMOVE \"").append(name).append('"'));
        statement.append(" WHERE \"").append(Names.PK).append("\"=?");
        write.expected()
                .keySet()
                .forEach(name -> statement.append(" AND \"").append(name).append("\"=?"));
        return statement.toString();
    }

    private static List<AttributeValue> parameters(ItemWrite write) {
        Stream<AttributeValue> pk = Stream.of(AttributeValue.fromS(write.pk()));
        Stream<AttributeValue> set = write.set().values().stream();
        return write.isInsert()
                ? Stream.concat(pk, set).toList()
                : Stream.concat(set, Stream.concat(pk, write.expected().values().stream()))
                        .toList();
    }
}

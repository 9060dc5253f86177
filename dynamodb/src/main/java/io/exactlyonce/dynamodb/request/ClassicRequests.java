package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.item.Names;
import io.exactlyonce.dynamodb.request.WriteAnswer.Again;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Failed;
import io.exactlyonce.dynamodb.request.WriteAnswer.Unstorable;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.ReplicatedWriteConflictException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;

/** One request for each write, all at once: for where IAM allows no PartiQL. */
final class ClassicRequests implements WriteRequests {

    private final DynamoDbAsyncClient client;
    private final String table;

    ClassicRequests(DynamoDbAsyncClient client, String table) {
        this.client = client;
        this.table = table;
    }

    @Override
    public CompletableFuture<List<WriteAnswer>> send(List<ItemWrite> writes) {
        return Futures.all(writes.stream().map(this::send).toList());
    }

    private CompletableFuture<WriteAnswer> send(ItemWrite write) {
        CompletableFuture<?> sent = write.isInsert()
                ? client.putItem(put(write))
                : client.updateItem(UpdateExpression.of(write).request(table));
        return sent.handle((response, failure) -> failure == null ? new Written() : refused(Futures.cause(failure)));
    }

    private static WriteAnswer refused(Throwable failure) {
        if (failure instanceof ConditionalCheckFailedException differs) {
            return new Differs(differs.hasItem() ? new ClaimItem(differs.item()) : null);
        }
        if (failure instanceof TransactionConflictException || failure instanceof ReplicatedWriteConflictException) {
            return new Again(String.valueOf(failure.getMessage()), true);
        }
        if (failure instanceof AwsServiceException refused && isTooLarge(refused)) {
            return new Unstorable(String.valueOf(refused.getMessage()));
        }
        // What was throttled here, the SDK has repeated already.
        return new Failed(failure);
    }

    private static boolean isTooLarge(AwsServiceException refused) {
        return refused.awsErrorDetails() != null
                && "ValidationException".equals(refused.awsErrorDetails().errorCode())
                && String.valueOf(refused.getMessage()).contains("size");
    }

    private PutItemRequest put(ItemWrite write) {
        Map<String, AttributeValue> item = new HashMap<>(write.set());
        item.put(Names.PK, AttributeValue.fromS(write.pk()));
        return PutItemRequest.builder()
                .tableName(table)
                .item(item)
                .conditionExpression("attribute_not_exists(" + Names.PK + ")")
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
                .build();
    }
}

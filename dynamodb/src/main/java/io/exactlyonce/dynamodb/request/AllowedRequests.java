package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.request.WriteAnswer.Failed;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/** PartiQL, until IAM denies it; single writes from then on. What was denied has not happened. */
final class AllowedRequests implements WriteRequests {

    private static final Logger LOG = LoggerFactory.getLogger(AllowedRequests.class);

    private final WriteRequests batches;
    private final WriteRequests single;
    private volatile boolean denied;

    AllowedRequests(DynamoDbAsyncClient client, String table) {
        this.batches = new PartiQlRequests(client, table);
        this.single = new ClassicRequests(client, table);
    }

    @Override
    public CompletableFuture<List<WriteAnswer>> send(List<ItemWrite> writes) {
        return denied
                ? single.send(writes)
                : batches.send(writes).thenCompose(answers -> unlessDenied(writes, answers));
    }

    private CompletableFuture<List<WriteAnswer>> unlessDenied(List<ItemWrite> writes, List<WriteAnswer> answers) {
        if (answers.stream().noneMatch(AllowedRequests::isDenied)) {
            return CompletableFuture.completedFuture(answers);
        }
        if (!denied) {
            denied = true;
            LOG.warn("IAM denies PartiQL on the claim table, so each claim is a request of its own: allow"
                    + " dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate to put 25 into one");
        }
        return Entries.where(answers, AllowedRequests::isDenied).replaced(writes, answers, single::send);
    }

    private static boolean isDenied(WriteAnswer answer) {
        return answer instanceof Failed failed
                && failed.failure() instanceof DynamoDbException refused
                && (isAccessDenied(refused)
                        || String.valueOf(refused.getMessage()).startsWith("AccessDenied"));
    }

    private static boolean isAccessDenied(DynamoDbException refused) {
        return refused.awsErrorDetails() != null
                && "AccessDeniedException".equals(refused.awsErrorDetails().errorCode());
    }
}

package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.autoconfigure.AwsAsyncClientCustomizer;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Counts requests to DynamoDB. Items here are smaller than 1 KB, so each write is one write unit, even if its condition
 * fails.
 */
class DynamoDbCosts implements AwsAsyncClientCustomizer, ExecutionInterceptor {

    private final LongAdder requests = new LongAdder();
    private final LongAdder writes = new LongAdder();

    void begin() {
        requests.reset();
        writes.reset();
    }

    long requests() {
        return requests.sum();
    }

    long writes() {
        return writes.sum();
    }

    @Override
    public void customize(AwsAsyncClientBuilder<?, ?> builder) {
        if (builder instanceof DynamoDbAsyncClientBuilder dynamoDb) {
            dynamoDb.overrideConfiguration(dynamoDb.overrideConfiguration().toBuilder()
                    .addExecutionInterceptor(this)
                    .build());
        }
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        if (context.request() instanceof DynamoDbRequest request) {
            requests.increment();
            writes.add(writes(request));
        }
    }

    private static int writes(DynamoDbRequest request) {
        if (request instanceof BatchExecuteStatementRequest batch) {
            return batch.statements().size();
        }
        return request instanceof PutItemRequest || request instanceof UpdateItemRequest ? 1 : 0;
    }
}

package io.exactlyonce.servers;

import java.util.HashMap;
import java.util.Map;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.CreateQueueRequest;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Creates a dead-letter queue before each queue that is created without one. */
record DeadLetterQueues(LocalSqs sqs) implements ExecutionInterceptor {

    private static final String REDRIVE = "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"8\"}";

    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes execution) {
        if (!(context.request() instanceof CreateQueueRequest queue)
                || queue.attributes().containsKey(QueueAttributeName.REDRIVE_POLICY)) {
            return context.request();
        }
        Map<QueueAttributeName, String> attributes = new HashMap<>(queue.attributes());
        String name = queue.queueName().replaceFirst("(\\.fifo)?$", "-dlq$1");
        try (SqsClient client = LocalSqs.client(sqs.getEndpoint())) {
            String url = client.createQueue(dead -> dead.queueName(name).attributes(queue.attributes()))
                    .queueUrl();
            String arn = client.getQueueAttributes(
                            dead -> dead.queueUrl(url).attributeNames(QueueAttributeName.QUEUE_ARN))
                    .attributes()
                    .get(QueueAttributeName.QUEUE_ARN);
            attributes.put(QueueAttributeName.REDRIVE_POLICY, REDRIVE.formatted(arn));
        }
        return queue.toBuilder().attributes(attributes).build();
    }
}

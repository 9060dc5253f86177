package io.exactlyonce.servers;

import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.CreateQueueRequest;
import software.amazon.awssdk.services.sqs.model.CreateQueueResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * Creates a dead-letter queue for each queue that an application's client creates without one. Wraps each client after
 * it was built, because the application's customizer may replace the settings of another customizer.
 */
final class DeadLetterQueues implements BeanPostProcessor, MethodInterceptor {

    private static final String REDRIVE = "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"8\"}";

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (!(bean instanceof SqsAsyncClient)) {
            return bean;
        }
        ProxyFactory proxies = new ProxyFactory(bean);
        // An application may inject a client by its class. The SDK's own class is final, so only other classes are
        // extended.
        proxies.setProxyTargetClass(!Modifier.isFinal(bean.getClass().getModifiers()));
        proxies.addAdvice(this);
        return proxies.getProxy();
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        return call.getMethod().getName().equals("createQueue") && call.getThis() instanceof SqsAsyncClient client
                ? create(client, request(call.getArguments()[0]))
                : call.proceed();
    }

    @SuppressWarnings("unchecked") // Clients have two variants of createQueue.
    private static CreateQueueRequest request(Object argument) {
        return argument instanceof CreateQueueRequest request
                ? request
                : CreateQueueRequest.builder()
                        .applyMutation((Consumer<CreateQueueRequest.Builder>) argument)
                        .build();
    }

    private static CompletableFuture<CreateQueueResponse> create(SqsAsyncClient client, CreateQueueRequest queue) {
        if (queue.attributes().containsKey(QueueAttributeName.REDRIVE_POLICY)) {
            return client.createQueue(queue);
        }
        String name = queue.queueName().replaceFirst("(\\.fifo)?$", "-dlq$1");
        return client.createQueue(dead -> dead.queueName(name).attributes(queue.attributes()))
                .thenCompose(dead -> client.getQueueAttributes(
                        read -> read.queueUrl(dead.queueUrl()).attributeNames(QueueAttributeName.QUEUE_ARN)))
                .thenCompose(dead -> {
                    Map<QueueAttributeName, String> attributes = new HashMap<>(queue.attributes());
                    attributes.put(
                            QueueAttributeName.REDRIVE_POLICY,
                            REDRIVE.formatted(dead.attributes().get(QueueAttributeName.QUEUE_ARN)));
                    return client.createQueue(
                            queue.toBuilder().attributes(attributes).build());
                });
    }
}

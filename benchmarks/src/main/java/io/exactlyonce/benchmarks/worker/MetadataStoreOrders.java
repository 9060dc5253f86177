package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.IntegrationMessageHeaderAccessor;
import org.springframework.integration.handler.advice.IdempotentReceiverInterceptor;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;
import org.springframework.integration.metadata.ConcurrentMetadataStore;
import org.springframework.integration.selector.MetadataStoreSelector;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHandler;

/** Spring Integration's idempotent receiver. It writes each key before the work, and never reads the key again. */
@Configuration(proxyBeanMethods = false)
class MetadataStoreOrders {

    private static final String DUPLICATE = IntegrationMessageHeaderAccessor.DUPLICATE_MESSAGE;

    @Bean
    ConcurrentMetadataStore metadataStore(JdbcTemplate database) {
        return new JdbcMetadataStore(database);
    }

    @Bean
    IdempotentReceiverInterceptor idempotentReceiver(ConcurrentMetadataStore store) {
        return new IdempotentReceiverInterceptor(
                new MetadataStoreSelector(message -> ((Order) message.getPayload()).orderId(), store));
    }

    @Bean
    Listener metadataStoreListener(Work work, IdempotentReceiverInterceptor interceptor) {
        MessageHandler handler = message -> {
            if (!message.getHeaders().containsKey(DUPLICATE)) {
                work.on((Order) message.getPayload());
            }
        };
        ProxyFactory proxy = new ProxyFactory(MessageHandler.class, interceptor);
        proxy.setTarget(handler);
        return new Listener((MessageHandler) proxy.getProxy());
    }

    static class Listener {

        private final MessageHandler receiver;

        Listener(MessageHandler receiver) {
            this.receiver = receiver;
        }

        @SqsListener(queueNames = "${bench.queue}", id = "orders")
        void handle(Message<Order> message) {
            receiver.handleMessage(message);
        }
    }
}

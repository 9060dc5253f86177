package io.exactlyonce.chaos.worker;

import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.Message;

/** A worker in a JVM of its own, to be killed, frozen and cut off. */
@SpringBootApplication
@EnableConfigurationProperties(WorkerProperties.class)
public class WorkerApplication {

    /** Starts a worker; its settings are arguments. */
    public static void main(String[] arguments) {
        SpringApplication.run(WorkerApplication.class, arguments);
    }

    @Bean
    Reconciler refunds(PaymentPartner partner) {
        return (listener, scope, claim) ->
                partner.hasActed(claim.key()) ? Reconciliation.done(claim.key()) : Reconciliation.runAgain();
    }

    @Bean
    MessageInterceptor<Object> beforeClaim(Runs runs) {
        return new MessageInterceptor<>() {
            @Override
            public Message<Object> intercept(Message<Object> message) {
                runs.reached(Point.BEFORE_CLAIM);
                return message;
            }
        };
    }
}

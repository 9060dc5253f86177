package io.exactlyonce.servers;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.PropertySource;

/**
 * A PostgreSQL and an SQS server for one application, in place of those that its properties name. Each starts when the
 * application first connects, and stops with it. Claim table and queues, each with a dead-letter queue after 8 receives,
 * are created on demand, unless the application's properties forbid it. Schemas that {@code spring.datasource.url} names
 * in {@code currentSchema} exist, and are used. In development:
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *     SpringApplication.from(App::main).with(ExactlyOnceServers.class).run(args);
 * }
 * }</pre>
 *
 * <p>in tests: {@code @SpringBootTest @Import(ExactlyOnceServers.class)}. For one of them alone, or with other
 * settings, declare {@link LocalPostgres} or {@link LocalSqs} as a bean.
 */
@Lazy
@PropertySource("classpath:io/exactlyonce/servers/defaults.properties")
@Configuration(proxyBeanMethods = false)
public class ExactlyOnceServers {

    private static final Logger log = LoggerFactory.getLogger(ExactlyOnceServers.class);

    @Bean
    LocalPostgres localPostgres() {
        // Without the hook: it would stop the server while the application, which stops the bean, still needs it.
        LocalPostgres postgres = LocalPostgres.start(settings -> settings.setRegisterShutdownHook(false));
        log.info(
                "PostgreSQL is at {}, user {}, password in {}",
                postgres.getJdbcUrl(),
                postgres.getUsername(),
                PrivateFolder.ofThisUser().path().resolve(LocalPostgres.PASSWORD_FILE));
        return postgres;
    }

    @Bean
    LocalSqs localSqs() {
        LocalSqs sqs = LocalSqs.start();
        log.info("SQS is at {}", sqs.getEndpoint());
        return sqs;
    }

    @Bean
    static DeadLetterQueues localDeadLetterQueues() {
        return new DeadLetterQueues();
    }
}

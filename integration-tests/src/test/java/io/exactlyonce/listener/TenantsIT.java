package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.hibernate.cfg.MultiTenancySettings;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.hibernate.engine.jdbc.connections.spi.MultiTenantConnectionProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.messaging.Message;

/**
 * Tenants of Hibernate, each with a schema. The tenant must be chosen before the handler runs, because the claim's
 * transaction begins before it.
 */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class TenantsIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final int WINDOW_SECONDS = 2;
    private static final int MOST_RECEIVES = 2;

    private static final String BARRED =
            "barred_" + UUID.randomUUID().toString().replace("-", "");

    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    @Entity(name = "TenantsSale")
    @Table(name = "sale")
    static class Sale {
        @Id
        private String id;

        protected Sale() {}

        Sale(String id) {
            this.id = id;
        }
    }

    /** Two listeners. An interceptor sets the tenant of one listener, and advice sets the tenant of the other. */
    @EntityScan(basePackageClasses = TenantsIT.class)
    static class Shop {
        @PersistenceContext
        private EntityManager entities;

        @ExactlyOnceListener(
                id = "sales",
                queueNames = "${test.sales}",
                key = "#sale",
                scope = "sales",
                effects = Effects.DATABASE)
        public void sell(String sale) {
            entities.persist(new Sale(sale));
        }

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.orders}",
                key = "#order",
                scope = "orders",
                effects = Effects.DATABASE)
        public void order(String order) {
            entities.persist(new Sale(order));
        }
    }

    private static String tenantOf(Object payload) {
        return String.valueOf(payload).split(":")[0];
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        @Bean
        MessageInterceptor<Object> tenantOfTheMessage() {
            return new MessageInterceptor<>() {
                @Override
                public Message<Object> intercept(Message<Object> message) {
                    if (!String.valueOf(message.getPayload()).contains("advised")) {
                        TENANT.set(tenantOf(message.getPayload()));
                    }
                    return message;
                }

                @Override
                public void afterProcessing(Message<Object> message, @Nullable Throwable failure) {
                    TENANT.remove();
                }
            };
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor tenantOfTheArgument() {
            var orders = new NameMatchMethodPointcut();
            orders.setMappedName("order");
            var advisor = new DefaultPointcutAdvisor(orders, (MethodInterceptor) invocation -> {
                TENANT.set(tenantOf(invocation.getArguments()[0]));
                try {
                    return invocation.proceed();
                } finally {
                    TENANT.remove();
                }
            });
            advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return advisor;
        }

        @Bean
        HibernatePropertiesCustomizer tenants(DataSource dataSource) {
            return properties -> {
                properties.put(MultiTenancySettings.MULTI_TENANT_CONNECTION_PROVIDER, new Schemas(dataSource));
                properties.put(MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER, new CurrentTenant());
            };
        }
    }

    static final class CurrentTenant implements CurrentTenantIdentifierResolver<String> {
        @Override
        public String resolveCurrentTenantIdentifier() {
            String tenant = TENANT.get();
            return tenant == null ? "public" : tenant;
        }

        @Override
        public boolean validateExistingCurrentSessions() {
            return false;
        }
    }

    /**
     * The search path of each tenant is its own schema only. The role of tenant {@code barred} has no rights on the
     * claim table.
     */
    @SuppressWarnings("serial")
    record Schemas(DataSource dataSource) implements MultiTenantConnectionProvider<String> {

        @Override
        public Connection getAnyConnection() throws SQLException {
            return dataSource.getConnection();
        }

        @Override
        public void releaseAnyConnection(Connection connection) throws SQLException {
            connection.close();
        }

        @Override
        public Connection getConnection(String tenant) throws SQLException {
            Connection connection = dataSource.getConnection();
            connection.setSchema(tenant);
            if (tenant.equals("barred")) {
                connection.createStatement().execute("SET ROLE " + BARRED);
            }
            return connection;
        }

        @Override
        public void releaseConnection(String tenant, Connection connection) throws SQLException {
            connection.createStatement().execute("RESET search_path; RESET ROLE");
            connection.close();
        }

        @Override
        public boolean supportsAggressiveRelease() {
            return false;
        }

        @Override
        public boolean isUnwrappableAs(Class<?> type) {
            return false;
        }

        @Override
        public <T> T unwrap(Class<T> type) {
            throw new UnsupportedOperationException();
        }
    }

    private final String sales = SQS.createQueue(WINDOW_SECONDS);
    private final String salesGivenUp = SQS.addDeadLetterQueue(sales, MOST_RECEIVES);
    private final String orders = SQS.createQueue(WINDOW_SECONDS);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(Map<String, String> own) {
        JdbcTemplate jdbc = new JdbcTemplate(EmbeddedDatabase.shared().dataSource(database));
        for (String schema : List.of("one", "two", "barred")) {
            jdbc.execute("CREATE SCHEMA IF NOT EXISTS " + schema);
            jdbc.execute("CREATE TABLE IF NOT EXISTS %s.sale (id text PRIMARY KEY)".formatted(schema));
        }
        jdbc.execute("DO $$ BEGIN CREATE ROLE %s; EXCEPTION WHEN duplicate_object THEN NULL; END $$".formatted(BARRED));
        jdbc.execute("CREATE TABLE IF NOT EXISTS sale (id text PRIMARY KEY)");
        Map<String, String> properties = new HashMap<>(own);
        properties.put("test.sales", sales);
        properties.put("test.orders", orders);
        properties.put("spring.autoconfigure.exclude", "");
        properties.put("exactly-once.retry.initial-delay", "1s");
        properties.put("exactly-once.retry.max-delay", "1s");
        return TestApplication.start(database, properties, Shop.class, Tenants.class);
    }

    @Test
    void transactionsWithTenantsFailStartup(CapturedOutput output) {
        assertThatThrownBy(() -> start(Map.of()).close()).isInstanceOf(Exception.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "TenantsIT$Shop.",
                        "effects = DATABASE, but transactions of JpaTransactionManager belong to tenants")
                .contains(CurrentTenant.class.getName() + " chooses one when a transaction begins, before the handler")
                .contains("exactly-once.claim.tenant-before-handler=true", "MessageInterceptor");
    }

    /**
     * The role of one tenant may not use the table. Only this tenant's messages fail; those of the other tenants
     * continue.
     */
    @Test
    void tenantBeforeTheHandlerGetsItsRowsAndOneWithoutRightsPausesNothing(CapturedOutput output) {
        try (TestApplication application = start(Map.of("exactly-once.claim.tenant-before-handler", "true"))) {
            List.of("barred:1", "barred:2", "barred:3", "barred:4").forEach(sale -> SQS.send(sales, sale));
            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(salesGivenUp) == 4);
            assertThat(application.gauge("exactly.once.listener.paused", "listener", "sales"))
                    .isZero();
            List.of("one:1", "two:1", "two:1").forEach(sale -> SQS.send(sales, sale));
            List.of("one:advised", "two:advised").forEach(order -> SQS.send(orders, order));

            SQS.awaitEmpty(sales);
            SQS.awaitEmpty(orders);
            assertThat(application.texts("SELECT id FROM one.sale")).containsExactlyInAnyOrder("one:1", "one:advised");
            assertThat(application.texts("SELECT id FROM two.sale")).containsExactlyInAnyOrder("two:1", "two:advised");
            assertThat(application.texts("SELECT id FROM sale UNION ALL SELECT id FROM barred.sale"))
                    .isEmpty();
            assertThat(application.claims("COMPLETED")).isEqualTo(4);
        }
        assertThat(output.getAll())
                .containsPattern(
                        "failed with io.exactlyonce.claim.transaction.ClaimTransactionException \\(sales/\\w{16}, not claimed\\): The"
                                + " transaction of \\[sales/\\w{16}\\] has a role without privileges on table exactly_once_claim")
                .contains("GRANT SELECT, INSERT, UPDATE ON public.exactly_once_claim")
                .doesNotContain("is paused");
    }
}

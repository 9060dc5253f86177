package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.autoconfigure.RecordingDriver.Asked;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.primary.ApplicationConnection;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Each new connection of claims uses the current settings of the application's pool. */
class ApplicationTargetTests {

    private static final String URL = "spring.datasource.url=" + RecordingDriver.URL;
    private static final String POOL = "spring.datasource.hikari.";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class));

    private RecordingDriver driver;

    @BeforeEach
    void register() throws SQLException {
        driver = RecordingDriver.register();
    }

    @AfterEach
    void deregister() throws SQLException {
        driver.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.datasource.username=shop, spring.datasource.password=one",
                "spring.datasource.hikari.username=shop, spring.datasource.hikari.password=one",
                "spring.datasource.username=wrong, spring.datasource.password=wrong, spring.datasource.hikari.username=shop,"
                        + " spring.datasource.hikari.password=one",
                "spring.datasource.username=shop, spring.datasource.hikari.password=one",
                "spring.datasource.hikari.data-source-properties.user=shop,"
                        + " spring.datasource.hikari.data-source-properties.password=one",
                "spring.datasource.hikari.credentials-provider-class-name="
                        + "io.exactlyonce.autoconfigure.RecordingDriver$Tokens",
                "spring.datasource.username=shop, spring.datasource.password=one, spring.datasource.connection-fetch=lazy",
                "spring.datasource.username=shop, spring.datasource.password=one,"
                        + " spring.datasource.type=org.apache.tomcat.jdbc.pool.DataSource",
                "spring.datasource.username=shop, spring.datasource.password=one,"
                        + " spring.datasource.type=org.apache.commons.dbcp2.BasicDataSource",
                "spring.datasource.username=shop, spring.datasource.password=one, spring.datasource.driver-class-name="
                        + "io.exactlyonce.autoconfigure.RecordingDriver,"
                        + " spring.datasource.type=org.springframework.jdbc.datasource.SimpleDriverDataSource",
            })
    void propertiesOfTheApplicationsPoolAreThoseOfClaims(String properties) {
        runner.withPropertyValues(properties.split(", "))
                .withPropertyValues(URL)
                .run(context -> {
                    Asked asked = connect(context);
                    assertThat(asked.user()).isEqualTo("shop");
                    assertThat(asked.password()).isEqualTo("one");
                    assertThat(asked.settings()).containsEntry("targetServerType", "primary");
                });
    }

    @Test
    void urlOfTheApplicationsPoolIsThatOfClaims() {
        runner.withPropertyValues(URL + "?wrong", POOL + "jdbc-url=" + RecordingDriver.URL)
                .run(context -> assertThat(connect(context).url()).isEqualTo(RecordingDriver.URL));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.datasource.hikari.data-source-properties.sslmode=verify-full",
                "spring.datasource.type=org.apache.tomcat.jdbc.pool.DataSource,"
                        + " spring.datasource.tomcat.connection-properties=sslmode=verify-full;a=b",
                "spring.datasource.type=org.apache.commons.dbcp2.BasicDataSource,"
                        + " spring.datasource.dbcp2.connection-properties=sslmode=verify-full;a=b",
            })
    void whatTheApplicationsPoolDemandsOfItsDriverIsDemandedForClaims(String properties) {
        runner.withPropertyValues(properties.split(", "))
                .withPropertyValues(URL)
                .run(context -> assertThat(connect(context).settings())
                        .containsEntry("sslmode", "verify-full")
                        .containsEntry("socketTimeout", "5"));
    }

    /** Ways in which a running application can change its password. */
    enum Rotation {
        POOL {
            @Override
            void rotate(ApplicationContext context) {
                HikariConfigMXBean pool =
                        context.getBean(HikariDataSource.class).getHikariConfigMXBean();
                pool.setPassword("two");
            }
        },
        POOL_WITH_USER {
            @Override
            void rotate(ApplicationContext context) {
                HikariConfigMXBean pool =
                        context.getBean(HikariDataSource.class).getHikariConfigMXBean();
                pool.setCredentials(Credentials.of("shop", "two"));
            }
        },
        DETAILS {
            @Override
            void rotate(ApplicationContext context) {
                context.getBean(Details.class).password = "two";
            }
        },
        DETAILS_AND_POOL {
            @Override
            void rotate(ApplicationContext context) {
                context.getBean(Details.class).password = "stale";
                POOL.rotate(context);
            }
        };

        abstract void rotate(ApplicationContext context);
    }

    static final class Details implements JdbcConnectionDetails {

        private volatile String password = "one";

        @Override
        public String getUsername() {
            return "shop";
        }

        @Override
        public String getPassword() {
            return password;
        }

        @Override
        public String getJdbcUrl() {
            return RecordingDriver.URL;
        }

        @Override
        public String getDriverClassName() {
            return RecordingDriver.class.getName();
        }
    }

    @ParameterizedTest
    @EnumSource
    void passwordThatTheApplicationChangesIsReadByTheNextConnection(Rotation rotation) {
        runner.withBean(Details.class).run(context -> {
            assertThat(connect(context).password()).isEqualTo("one");

            rotation.rotate(context);

            assertThat(connect(context).user()).isEqualTo("shop");
            assertThat(connect(context).password()).isEqualTo("two");
        });
    }

    /** A DataSource like Oracle's pool, which only has a setter. */
    public static final class WithoutAPassword extends AbstractDataSource {

        public String getURL() {
            return RecordingDriver.URL;
        }

        public String getUser() {
            return "shop";
        }

        public String getPassword() {
            throw new NoSuchMethodError("this method is deprecated");
        }

        @Override
        public Connection getConnection() {
            throw new AssertionError("never");
        }

        @Override
        public Connection getConnection(String username, String password) {
            throw new AssertionError("never");
        }
    }

    @Test
    void passwordThatAPoolHidesIsReadFromTheConnectionDetails() {
        ApplicationContextRunner hidden = runner.withBean(DataSource.class, WithoutAPassword::new);
        hidden.withBean(Details.class).run(context -> {
            assertThat(connect(context).password()).isEqualTo("one");
            Rotation.DETAILS.rotate(context);
            assertThat(connect(context).password()).isEqualTo("two");
        });
        hidden.run(context -> assertThat(impossible(context)).contains("keeps its password to itself"));
    }

    @Test
    void credentialsProviderOfThePoolIsCalledForEachConnection() {
        AtomicInteger tokens = new AtomicInteger();
        runner.withBean("dataSource", HikariDataSource.class, () -> {
                    var pool = hikari();
                    pool.setCredentialsProvider(() -> Credentials.of("shop", "token " + tokens.incrementAndGet()));
                    return pool;
                })
                .run(context -> {
                    connect(context);
                    String first = driver.last().password();
                    connect(context);
                    assertThat(driver.last().password()).startsWith("token ").isNotEqualTo(first);
                });
    }

    @Test
    void providerThatFailsIsNamed() {
        runner.withBean("dataSource", HikariDataSource.class, () -> {
                    var pool = hikari();
                    pool.setCredentialsProvider(() -> {
                        throw new IllegalStateException("no role");
                    });
                    return pool;
                })
                .run(context -> assertThat(failure(context))
                        .hasMessageContainingAll(
                                "cannot be read from the HikariCredentialsProvider of DataSource 'dataSource'",
                                "no role"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties
    static class Shop {
        @Bean
        @ConfigurationProperties("shop.db")
        HikariDataSource shop() {
            return new HikariDataSource();
        }
    }

    /** H2 is on the class path. */
    @Test
    void dataSourceOfTheApplicationsOwnIsWhereClaimsGo() {
        runner.withUserConfiguration(Shop.class)
                .withPropertyValues(
                        "shop.db.jdbc-url=" + RecordingDriver.URL, "shop.db.username=shop", "shop.db.password=one")
                .run(context -> {
                    assertThat(connect(context).password()).isEqualTo("one");
                    assertThat(claims(context).target()).isEqualTo("db.example/shop");
                    assertThat(claims(context).setting()).isEqualTo("the URL of DataSource 'shop'");
                });
    }

    private static HikariDataSource hikari() {
        var pool = new HikariDataSource();
        pool.setJdbcUrl(RecordingDriver.URL);
        pool.setUsername("shop");
        pool.setPassword("one");
        return pool;
    }

    /** DataSources that applications create themselves. */
    enum Own {
        HIKARI(ApplicationTargetTests::hikari),
        HIKARI_AROUND_A_DATA_SOURCE(() -> {
            var pool = new HikariDataSource();
            pool.setDataSource(simple());
            return pool;
        }),
        HIKARI_WITH_ITS_OWN_USER(() -> {
            var pool = new HikariDataSource();
            pool.setDataSource(new DriverManagerDataSource(RecordingDriver.URL, "wrong", "wrong"));
            pool.setUsername("shop");
            pool.setPassword("one");
            return pool;
        }),
        BUILDER(() -> DataSourceBuilder.create()
                .url(RecordingDriver.URL)
                .username("shop")
                .password("one")
                .driverClassName(RecordingDriver.class.getName())
                .build()),
        SIMPLE(ApplicationTargetTests::simple),
        DRIVER_MANAGER(() -> new DriverManagerDataSource(RecordingDriver.URL, "shop", "one")),
        TOKEN(() -> new DriverManagerDataSource(RecordingDriver.URL, "shop", "expired") {
            @Override
            public String getPassword() {
                return "one";
            }
        }),
        TOMCAT(() -> {
            var pool = new org.apache.tomcat.jdbc.pool.DataSource();
            pool.setUrl(RecordingDriver.URL);
            pool.setUsername("shop");
            pool.setPassword("one");
            return pool;
        }),
        DBCP(() -> {
            var pool = new BasicDataSource();
            pool.setUrl(RecordingDriver.URL);
            pool.setUsername("shop");
            pool.setPassword("one");
            return pool;
        });

        private final Supplier<DataSource> made;

        Own(Supplier<DataSource> made) {
            this.made = made;
        }
    }

    private static DataSource simple() {
        var simple = new SimpleDriverDataSource();
        simple.setUrl(RecordingDriver.URL);
        simple.setUsername("shop");
        simple.setPassword("one");
        return simple;
    }

    @ParameterizedTest
    @EnumSource
    void dataSourcesThatAreReadLeadClaimsWhereTheyLead(Own own) {
        runner.withBean(DataSource.class, own.made).run(this::requireShop);
    }

    /** Wrappers and proxies, each around any DataSource. */
    enum Wrapper {
        LAZY(LazyConnectionDataSourceProxy::new),
        LAZY_WITH_A_READER(target -> {
            var lazy = new LazyConnectionDataSourceProxy(target);
            lazy.setReadOnlyDataSource(new DriverManagerDataSource("jdbc:recorded:postgresql://replica/shop"));
            return lazy;
        }),
        TRANSACTION_AWARE(TransactionAwareDataSourceProxy::new),
        DELEGATING(target -> new LazyConnectionDataSourceProxy(new DelegatingDataSource(target))),
        CGLIB_PROXY(target -> {
            var proxy = new ProxyFactory(target);
            proxy.setProxyTargetClass(true);
            return (DataSource) proxy.getProxy();
        }),
        JDK_PROXY(target -> ProxyFactory.getProxy(DataSource.class, new SingletonTargetSource(target))),
        STANDARD(Unwrappable::new);

        private final Function<DataSource, DataSource> around;

        Wrapper(Function<DataSource, DataSource> around) {
            this.around = around;
        }
    }

    /** Wraps as JDBC says. */
    private static final class Unwrappable extends AbstractDataSource {

        private final DataSource target;

        Unwrappable(DataSource target) {
            this.target = target;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return target.getConnection();
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return target.getConnection(username, password);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T unwrap(Class<T> type) throws SQLException {
            return type.isInstance(target) ? (T) target : target.unwrap(type);
        }

        @Override
        public boolean isWrapperFor(Class<?> type) throws SQLException {
            return type.isInstance(target) || target.isWrapperFor(type);
        }
    }

    @ParameterizedTest
    @EnumSource
    void wrappersAndProxiesAreReadThrough(Wrapper wrapper) {
        runner.withBean(DataSource.class, () -> wrapper.around.apply(hikari())).run(this::requireShop);
        runner.withBean(DataSource.class, () -> wrapper.around.apply(Own.TOMCAT.made.get()))
                .run(this::requireShop);
    }

    private void requireShop(AssertableApplicationContext context) {
        Asked asked = connect(context);
        assertThat(asked.url()).isEqualTo(RecordingDriver.URL);
        assertThat(asked.user()).isEqualTo("shop");
        assertThat(asked.password()).isEqualTo("one");
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {
        @Bean
        DataSource shop() {
            return new DriverManagerDataSource(RecordingDriver.URL, "shop", "one");
        }

        @Bean
        DataSource reports() {
            return new DriverManagerDataSource("jdbc:recorded:postgresql://db.example/reports");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryAmongTwo {
        @Bean
        @Primary
        DataSource shop() {
            return hikari();
        }

        @Bean
        DataSource reports() {
            return new DriverManagerDataSource("jdbc:h2:mem:reports");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DefaultAmongTwo {
        @Bean
        DataSource shop() {
            return hikari();
        }

        @Bean(defaultCandidate = false)
        DataSource reports() {
            return new DriverManagerDataSource("jdbc:h2:mem:reports");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {PrimaryAmongTwo.class, DefaultAmongTwo.class})
    void primaryAmongSeveralDataSourcesIsTheOneOfClaims(Class<?> configuration) {
        runner.withUserConfiguration(configuration).run(this::requireShop);
    }

    @Test
    void oneOfSeveralDataSourcesIsNotGuessed() {
        runner.withUserConfiguration(Two.class)
                .run(context -> assertThat(impossible(context))
                        .contains("none of its DataSource beans is @Primary (shop, reports)"));
    }

    private static DataSource routing() {
        var routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "shop";
            }
        };
        routing.setTargetDataSources(Map.of("shop", hikari()));
        routing.afterPropertiesSet();
        return routing;
    }

    /** DataSources that do not have a single address and user. */
    enum Unreadable {
        ROUTING(ApplicationTargetTests::routing, "chooses a database for each connection"),
        ROUTING_WITHIN(() -> new Unwrappable(new LazyConnectionDataSourceProxy(routing())), "chooses a database"),
        HIKARI_AROUND_ROUTING(
                () -> {
                    var pool = new HikariDataSource();
                    pool.setDataSource(routing());
                    return pool;
                },
                "chooses a database"),
        USER_FOR_EACH(
                () -> {
                    var users = new UserCredentialsDataSourceAdapter();
                    users.setTargetDataSource(hikari());
                    return users;
                },
                "chooses a user for each connection"),
        JNDI(
                () -> {
                    var pool = new HikariDataSource();
                    pool.setDataSourceJNDI("java:comp/env/jdbc/shop");
                    return pool;
                },
                "takes its connections from JNDI (java:comp/env/jdbc/shop)"),
        NO_URL(HikariDataSource::new, "has no JDBC URL"),
        UNKNOWN(
                () -> new AbstractDataSource() {
                    @Override
                    public Connection getConnection() {
                        throw new AssertionError("never");
                    }

                    @Override
                    public Connection getConnection(String username, String password) {
                        throw new AssertionError("never");
                    }
                },
                "has no JDBC URL"),
        OTHER_DATABASE(
                () -> new DriverManagerDataSource("jdbc:mysql://me:secret@db/shop", "me", "secret"),
                "connects to jdbc:mysql:..., and claims need PostgreSQL"),
        EMBEDDED(
                () -> new EmbeddedDatabaseBuilder()
                        .setType(EmbeddedDatabaseType.H2)
                        .build(),
                "connects to jdbc:h2:..., and claims need PostgreSQL");

        private final Supplier<DataSource> made;
        private final String reason;

        Unreadable(Supplier<DataSource> made, String reason) {
            this.made = made;
            this.reason = reason;
        }
    }

    @ParameterizedTest
    @EnumSource
    void dataSourceThatCannotBeReadIsOneFailureWithOneRemedyWhenSomethingIsClaimed(Unreadable unreadable) {
        runner.withBean("shop", DataSource.class, unreadable.made)
                .run(context -> assertThat(impossible(context)).contains("DataSource 'shop'", unreadable.reason));
    }

    @Test
    void databaseThatBootTakesFromTheClassPathIsRefusedByClaimsOnly() {
        runner.run(context -> assertThat(impossible(context))
                .contains("DataSource 'dataSource' connects to jdbc:h2:..., and claims need PostgreSQL"));
    }

    @Test
    void applicationThatClaimsNothingNeedsNoDatabase() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(ClaimStore.class);
                    assertThat(impossible(context)).contains("it has no DataSource bean");
                });
    }

    /** Boot's own text mentions embedded databases. */
    @Test
    void dataSourceThatCannotBeMadeIsTheSameFailure() {
        runner.withClassLoader(new FilteredClassLoader(org.h2.Driver.class))
                .withInitializer(context -> context.addBeanFactoryPostProcessor(
                        beans -> beans.getBeanDefinition("dataSource").setLazyInit(true)))
                .run(context -> assertThat(impossible(context)).contains("its DataSource cannot be created"));
    }

    @Test
    void connectionDetailsAreEnoughWithoutADataSource() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ExactlyOnceAutoConfiguration.class))
                .withBean(Details.class)
                .run(this::requireShop);
    }

    @Test
    void urlForClaimsComesFirstAndItsPasswordIsRotatedByAProviderOfItsOwn() {
        AtomicInteger tokens = new AtomicInteger();
        ApplicationContextRunner own = runner.withPropertyValues(
                "exactly-once.datasource.url=" + RecordingDriver.URL,
                "exactly-once.datasource.username=claims",
                "exactly-once.datasource.password=one");
        own.run(context -> {
            assertThat(connect(context).user()).isEqualTo("claims");
            assertThat(connect(context).password()).isEqualTo("one");
        });
        own.withBean(
                        HikariCredentialsProvider.class,
                        () -> () -> Credentials.of(null, "token " + tokens.incrementAndGet()),
                        definition -> ((AbstractBeanDefinition) definition)
                                .addQualifier(new AutowireCandidateQualifier(ExactlyOnceDataSource.class)))
                .run(context -> {
                    assertThat(connect(context).user()).isEqualTo("claims");
                    assertThat(driver.last().password()).startsWith("token ");
                    String first = driver.last().password();
                    assertThat(connect(context).password()).isNotEqualTo(first);
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class BothMarked {
        @Bean(defaultCandidate = false)
        @ExactlyOnceDataSource
        HikariDataSource claims() {
            return hikari();
        }

        @Bean
        @ExactlyOnceDataSource
        HikariCredentialsProvider token() {
            return new RecordingDriver.Tokens();
        }
    }

    @Test
    void providerBesideAMarkedDataSourceWouldNeverBeCalled() {
        FailureAnalysis analysis = FailureReport.of(runner.withUserConfiguration(BothMarked.class));

        assertThat(analysis.getDescription()).contains("both marked @ExactlyOnceDataSource");
        assertThat(analysis.getAction()).contains("credentialsProvider of that pool");
    }

    @Test
    void refusedPasswordIsReportedWithItsUserAndWhereItIsReadAnew() {
        runner.withPropertyValues(URL, "spring.datasource.username=shop", "spring.datasource.password=one")
                .run(context -> assertThat(failure(context))
                        .hasMessageContainingAll(
                                "db.example/shop refuses user 'shop' (SQLSTATE 28P01, FATAL: password authentication failed)",
                                "each new connection reads user and password from DataSource 'dataSource'",
                                "spring.datasource.url, .username and .password are right")
                        .hasMessageNotContaining("one;"));
    }

    private static String impossible(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        Throwable failure = failure(context);
        FailureAnalysis analysis = FailureReport.of(failure, context.getSourceApplicationContext());
        assertThat(analysis.getAction())
                .isEqualTo(ApplicationConnection.REMEDY)
                .contains("@ExactlyOnceDataSource", "exactly-once.datasource.url");
        assertThat(analysis.getDescription()).doesNotContain("secret", "embedded");
        return analysis.getDescription();
    }

    private static Throwable failure(ApplicationContext context) {
        claims(context).own().orElseThrow().setConnectionTimeout(250);
        Throwable failure =
                catchThrowable(() -> context.getBean(ClaimDatabase.class).requireReady());
        assertThat(failure).isInstanceOf(ClaimDatabaseException.class);
        return failure;
    }

    private Asked connect(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        // Fails below the pool, because the pool itself would retry until its timeout.
        DataSource source = claims(context).own().orElseThrow().getDataSource();
        assertThat(catchThrowable(source::getConnection)).isInstanceOf(SQLException.class);
        return driver.last();
    }

    private static ClaimPool claims(ApplicationContext context) {
        return context.getBean(ClaimPool.class);
    }
}

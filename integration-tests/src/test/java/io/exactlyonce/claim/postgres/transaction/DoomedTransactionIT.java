package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAspectSupport;

/**
 * A handler continues although a method that had joined its transaction failed. The failure names the cause, which
 * Spring does not keep.
 */
@Tag("postgres")
class DoomedTransactionIT {

    private static final TestDatabase DATABASE = new TestDatabase(2);
    private static final AnnotationConfigApplicationContext APPLICATION;

    static {
        DATABASE.jdbc().execute("CREATE TABLE sale (id text PRIMARY KEY)");
        APPLICATION = new AnnotationConfigApplicationContext(Configured.class);
    }

    /** The service that a handler calls. */
    static class Stock {
        private final JdbcTemplate jdbc;
        private final AtomicInteger calls = new AtomicInteger();

        Stock(DataSource dataSource) {
            this.jdbc = new JdbcTemplate(dataSource);
        }

        /** Fails at the first call, like an update of a row that another transaction has changed. */
        @Retryable(includes = OptimisticLockingFailureException.class, maxRetries = 2, delay = 0)
        @Transactional
        public void reserve(String id) {
            if (calls.getAndIncrement() % 2 == 0) {
                throw new OptimisticLockingFailureException("row of " + id);
            }
            sell(id);
        }

        @Transactional
        public void sell(String id) {
            jdbc.update("INSERT INTO sale VALUES (?)", id);
        }

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void audit() {
            throw new IllegalStateException("the auditor is on holiday");
        }

        @Transactional(propagation = Propagation.NESTED)
        public void sellIfNew(String id) {
            sell(id);
        }

        @Transactional
        public void giveUp() {
            TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @EnableResilientMethods
    @Import({Stock.class, RollbackCause.class})
    static class Configured {

        @Bean
        DataSource dataSource() {
            return DATABASE.application();
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    private final Stock stock = APPLICATION.getBean(Stock.class);
    private final ClaimTransaction transaction = new TransactionCheck(
                    DATABASE.table(), new StaticListableBeanFactory(), false)
            .create(APPLICATION.getBean(PlatformTransactionManager.class), new DefaultTransactionAttribute(), true);
    private final ClaimRequest request = request();
    private final String id = request.key().key();

    @AfterAll
    static void close() {
        APPLICATION.close();
        DATABASE.close();
    }

    private int sales() {
        return DATABASE.jdbc()
                .queryForList("SELECT 1 FROM sale WHERE id = ?", id)
                .size();
    }

    /** Trap: hundreds of {@code UnexpectedRollbackException}s, none of which named the lock or the retry. */
    @Test
    void retryWithinTheTransactionIsNamedWithTheExceptionThatItRetried() {
        assertThatThrownBy(() -> transaction.execute(request, claim -> {
                    stock.reserve(id);
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasCauseInstanceOf(OptimisticLockingFailureException.class)
                .hasMessageContaining("DoomedTransactionIT$Stock.reserve, which had joined it, threw"
                        + " org.springframework.dao.OptimisticLockingFailureException, and the handler went on")
                .hasMessageContaining("a retry must be around the whole transaction")
                .hasMessageNotContaining(id);

        assertThat(sales()).isZero();
    }

    @Test
    void duplicateThatTheHandlerSwallowsBehindAJoinedMethodIsNamed() {
        DATABASE.jdbc().update("INSERT INTO sale VALUES (?)", id);

        assertThatThrownBy(() -> transaction.execute(request, claim -> {
                    assertThatThrownBy(() -> stock.sell(id)).isInstanceOf(DuplicateKeyException.class);
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining(
                        "Stock.sell, which had joined it, threw org.springframework.dao.DuplicateKeyException");
    }

    @Test
    void transactionThatTheHandlerMarksIsNamed() {
        assertThatThrownBy(() -> transaction.execute(request, claim -> {
                    stock.giveUp();
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining("by setRollbackOnly()");
    }

    /**
     * The two failures are in a transaction of their own and behind a savepoint, so neither concerns the handler's
     * transaction.
     */
    @Test
    void failuresOutsideOfTheTransactionAndBehindASavepointDoNotDoomIt() throws Throwable {
        assertThat(transaction.execute(request, claim -> {
                    stock.sell(id);
                    assertThatThrownBy(stock::audit).isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(() -> stock.sellIfNew(id)).isInstanceOf(DuplicateKeyException.class);
                    return null;
                }))
                .isInstanceOf(Acquired.class);

        assertThat(sales()).isEqualTo(1);
    }
}

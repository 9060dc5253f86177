package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.primary.PgCatalog;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceException;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;
import org.hibernate.binder.internal.TenantIdBinder;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Detects that the application chooses a tenant when a transaction begins. A transaction that holds claims begins
 * before the handler runs, so a tenant that the handler sets comes too late.
 */
final class Tenants {

    private static final boolean HAS_HIBERNATE =
            ClassUtils.isPresent("org.hibernate.engine.spi.SessionFactoryImplementor", Tenants.class.getClassLoader());

    /** Selects the database, server and search path of a session. Also selects whether the session is read-only. */
    private static final String PLACE = PgCatalog.sql("""
            SELECT pg_catalog.format('%s %s %s %s', pg_catalog.current_database(), pg_catalog.inet_server_addr(),
                                     pg_catalog.inet_server_port(), pg_catalog.current_setting('search_path')) AS place,
                   pg_catalog.current_setting('transaction_read_only') {=} 'on' AS read_only""");

    private record Place(String place, boolean readOnly) {

        static Place of(JdbcTemplate jdbc) {
            return Objects.requireNonNull(jdbc.queryForObject(
                    PLACE, (row, number) -> new Place(row.getString("place"), row.getBoolean("read_only"))));
        }
    }

    private Tenants() {}

    /**
     * Finds out whether Hibernate's sessions belong to tenants.
     *
     * @return the name of the class that chooses the tenant, or a text that says how the tenant is chosen; {@code null}
     *     if there are no tenants
     */
    static @Nullable String ofEntityManagers(PlatformTransactionManager manager) {
        return HAS_HIBERNATE && manager instanceof ResourceTransactionManager resource
                ? OfHibernate.chooser(resource.getResourceFactory())
                : null;
    }

    /**
     * Finds out whether a DataSource connects to different databases or schemas, as an
     * {@code AbstractRoutingDataSource} can. Replicas, and databases that cannot be reached now, are ignored.
     *
     * @param transaction an open transaction of that DataSource
     * @return the class name of the DataSource; {@code null} if it always uses the database and search path of the
     *     transaction
     */
    static @Nullable String ofConnections(DataSource dataSource, JdbcTemplate transaction) {
        AbstractRoutingDataSource router = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
        if (router == null) {
            return null;
        }
        Place own = Place.of(transaction);
        Set<DataSource> targets =
                new LinkedHashSet<>(router.getResolvedDataSources().values());
        return targets.stream().anyMatch(target -> isOfATenant(target, own))
                ? router.getClass().getName()
                : null;
    }

    private static boolean isOfATenant(DataSource target, Place own) {
        try {
            Place place = Place.of(new JdbcTemplate(target));
            return !place.readOnly() && !place.place().equals(own.place());
        } catch (DataAccessException unreachable) {
            return false;
        }
    }

    /** Code that uses Hibernate's classes. This class is loaded only if Hibernate is present. */
    private static final class OfHibernate {

        private OfHibernate() {}

        static @Nullable String chooser(@Nullable Object resource) {
            SessionFactoryImplementor sessions =
                    resource instanceof EntityManagerFactory factory ? sessions(factory) : null;
            if (sessions == null) {
                return null;
            }
            CurrentTenantIdentifierResolver<?> resolver = sessions.getCurrentTenantIdentifierResolver();
            if (resolver != null) {
                return resolver.getClass().getName();
            }
            boolean hasTenants = sessions.getSessionFactoryOptions().isMultiTenancyEnabled()
                    || sessions.getDefinedFilterNames().contains(TenantIdBinder.FILTER_NAME);
            return hasTenants ? "Hibernate's multi-tenancy" : null;
        }

        private static @Nullable SessionFactoryImplementor sessions(EntityManagerFactory factory) {
            try {
                return factory.unwrap(SessionFactoryImplementor.class);
            } catch (PersistenceException ofAnotherProvider) {
                return null;
            }
        }
    }
}

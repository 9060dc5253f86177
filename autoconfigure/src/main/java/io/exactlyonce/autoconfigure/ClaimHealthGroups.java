package io.exactlyonce.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;

/**
 * Leaves the database of claims to the groups that ask for it. While it is away, listeners pause and lose nothing: nothing
 * that a restart would mend, and no reason to take HTTP requests from the application.
 *
 * <p>Boot counts each DataSource as a part of {@code db}. Claims' pool is none in any group: it is {@code exactlyOnce}, which
 * the health of the whole application leaves out.
 */
public final class ClaimHealthGroups implements HealthEndpointGroupsPostProcessor {

    /** Boot's name for the contributor of the bean {@code exactlyOnceHealthIndicator}. */
    static final String CONTRIBUTOR = "exactlyOnce";

    private static final String PART_OF_DB = "db/" + ClaimStoreConfiguration.DATA_SOURCE;

    /** Makes what leaves {@code exactlyOnce} out of the health of the whole application. */
    public ClaimHealthGroups() {}

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        Map<String, HealthEndpointGroup> named = new LinkedHashMap<>();
        for (String name : groups.getNames()) {
            named.put(name, new Without(Objects.requireNonNull(groups.get(name)), Set.of(PART_OF_DB)));
        }
        return HealthEndpointGroups.of(new Without(groups.getPrimary(), Set.of(PART_OF_DB, CONTRIBUTOR)), named);
    }

    /** A group as it was configured, but for the members that are left out. */
    private record Without(HealthEndpointGroup group, Set<String> left) implements HealthEndpointGroup {

        @Override
        public boolean isMember(String name) {
            return !left.contains(name) && group.isMember(name);
        }

        @Override
        public boolean showComponents(SecurityContext security) {
            return group.showComponents(security);
        }

        @Override
        public boolean showDetails(SecurityContext security) {
            return group.showDetails(security);
        }

        @Override
        public StatusAggregator getStatusAggregator() {
            return group.getStatusAggregator();
        }

        @Override
        public HttpCodeStatusMapper getHttpCodeStatusMapper() {
            return group.getHttpCodeStatusMapper();
        }

        @Override
        public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
            return group.getAdditionalPath();
        }
    }
}

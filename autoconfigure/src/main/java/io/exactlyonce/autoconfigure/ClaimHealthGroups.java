package io.exactlyonce.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
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
 * that a restart would mend, and no reason to take HTTP requests from the application. So the health of the whole application
 * leaves {@code exactlyOnce} out.
 */
public final class ClaimHealthGroups implements HealthEndpointGroupsPostProcessor {

    /** Boot's name for the contributor of the bean {@code exactlyOnceHealthIndicator}. */
    static final String CONTRIBUTOR = "exactlyOnce";

    /** Makes what leaves {@code exactlyOnce} out of the health of the whole application. */
    public ClaimHealthGroups() {}

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        Map<String, HealthEndpointGroup> named = new LinkedHashMap<>();
        for (String name : groups.getNames()) {
            named.put(name, Objects.requireNonNull(groups.get(name)));
        }
        return HealthEndpointGroups.of(new WithoutClaims(groups.getPrimary()), named);
    }

    /** A group as it was configured, but for claims. */
    private record WithoutClaims(HealthEndpointGroup group) implements HealthEndpointGroup {

        @Override
        public boolean isMember(String name) {
            return !CONTRIBUTOR.equals(name) && group.isMember(name);
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

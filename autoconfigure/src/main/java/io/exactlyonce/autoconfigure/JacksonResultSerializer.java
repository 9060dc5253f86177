package io.exactlyonce.autoconfigure;

import io.exactlyonce.delivery.ResultSerializer;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Results as JSON, written and read by the application's mapper; except that no class is ever chosen by its name in the
 * stored text, whatever the mapper allows elsewhere.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }
}

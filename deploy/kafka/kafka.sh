#!/usr/bin/env bash
# A single-node Apache Kafka (KRaft) for tests and for trying things out. Needs Java 17 and Maven.
#
#   kafka.sh fetch                 Kafka's jars into target/kafka/libs, once
#   kafka.sh serve DIR PORT [eof]  runs in the foreground with its data in DIR, listening on 127.0.0.1:PORT (and PORT+1 for the
#                                  controller). With "eof" it ends when standard input is closed, so that it cannot outlive a test.
#                                  With KAFKA_TLS=1 it also listens on PORT+2 by TLS, with the certificate DIR/tls.pem.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
libs="$root/target/kafka/libs"
quiet=-Dorg.slf4j.simpleLogger.defaultLogLevel=error

fetch() {
  [ -f "$libs/.complete" ] && return
  mkdir -p "$libs"
  mvn -q -B -f "$root/deploy/kafka/pom.xml" dependency:copy-dependencies -DoutputDirectory="$libs"
  touch "$libs/.complete"
}

# A listener by TLS beside the others, with a certificate made here that signs itself.
tls_listener() {
  local dir=$1 port=$2
  keytool -genkeypair -alias broker -keyalg EC -validity 30 -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 \
    -storetype PKCS12 -keystore "$dir/tls.p12" -storepass for-tests 2> /dev/null
  keytool -exportcert -rfc -alias broker -keystore "$dir/tls.p12" -storepass for-tests > "$dir/tls.pem" 2> /dev/null
  sed -i -e "s|^listeners=.*|&,SSL://127.0.0.1:$port|" -e "s|^advertised.listeners=.*|&,SSL://127.0.0.1:$port|" \
    -e "s|^listener.security.protocol.map=.*|&,SSL:SSL|" "$dir/server.properties"
  cat >> "$dir/server.properties" <<CONF
ssl.keystore.type=PKCS12
ssl.keystore.location=$dir/tls.p12
ssl.keystore.password=for-tests
CONF
}

serve() {
  local dir=$1 port=$2 until=${3:-}
  mkdir -p "$dir"
  if [ ! -f "$dir/server.properties" ]; then
    cat > "$dir/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/logs
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
# Old records go within seconds, not minutes.
log.retention.check.interval.ms=2000
log.initial.task.delay.ms=2000
log.segment.delete.delay.ms=1000
log.cleaner.backoff.ms=1000
# A killed member's partitions move within seconds, not the usual 45: with KIP-848 the broker says when.
group.consumer.min.session.timeout.ms=3000
group.consumer.session.timeout.ms=6000
group.consumer.min.heartbeat.interval.ms=500
group.consumer.heartbeat.interval.ms=1000
CONF
    if [ -n "${KAFKA_TLS:-}" ]; then tls_listener "$dir" $((port + 2)); fi
    local id
    id=$(java $quiet -cp "$libs/*" kafka.tools.StorageTool random-uuid)
    java $quiet -cp "$libs/*" kafka.tools.StorageTool format --standalone -t "$id" -c "$dir/server.properties" > /dev/null
  fi
  java -Xmx512m $quiet -cp "$libs/*" kafka.Kafka "$dir/server.properties" \
    > "$dir/kafka.log" 2>&1 &
  pid=$! # not local: the trap outlives this function
  trap 'kill -9 $pid 2> /dev/null || true' EXIT INT TERM
  if [ "$until" = eof ]; then
    cat > /dev/null
  else
    echo "Kafka on 127.0.0.1:$port, data in $dir; Ctrl-C stops it"
    wait "$pid"
  fi
}

case "${1:-}" in
  fetch) fetch ;;
  serve) fetch; serve "${2:?DIR}" "${3:?PORT}" "${4:-}" ;;
  *) echo "usage: $0 fetch | serve DIR PORT [eof]" >&2; exit 2 ;;
esac

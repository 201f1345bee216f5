#!/bin/sh
# The next step towards a cluster of three masters with replicas: makes one where there is none, completes
# half of one, makes servers with new addresses known to each other again, and leaves a whole one as it is.
# Exits with 0 only if it is whole; otherwise it says what it did or waits for, and is to be run again.
#
#   REDISCLI_AUTH=PASSWORD sh join.sh HOST:PORT HOST:PORT HOST:PORT ...
#
# In a new cluster the first three are the masters.
whole=yes

say() {
  echo "$*"
  whole=no
}

cli() {
  at=$1
  shift
  timeout 5 valkey-cli -e -h "${at%:*}" -p "${at##*:}" "$@" </dev/null
}

# What each server says of itself: HOST:PORT, id, address, port, port for the cluster, role, its master
# and whether it has slots.
servers=$(
  for server; do
    cli "$server" cluster nodes | awk -v server="$server" '$3 ~ /myself/ {
      split($2, at, "@")
      match(at[1], /:[0-9]+$/)
      address = substr(at[1], 1, RSTART - 1)
      if (address == "") { address = server; sub(/:[0-9]+$/, "", address) }
      role = $3 ~ /master/ ? "master" : "replica"
      print server, $1, address, substr(at[1], RSTART + 1), at[2] + 0, role, $4, (NF > 8 ? "slots" : "none")
    }'
  done
)
for server; do
  case $servers in *"$server "*) ;; *) say "$server does not answer" ;; esac
done
all_answer=$whole
answering=$(echo "$servers" | cut -d ' ' -f 1)

if [ -z "$servers" ]; then exit 1; fi

met=no
for server in $answering; do
  known=$(cli "$server" cluster nodes)
  while read -r other id address port bus _; do
    case $known in *"$id $address:$port@"*) continue ;; esac
    if [ "$other" = "$server" ]; then continue; fi
    say "$server meets $other at $address: $(cli "$server" cluster meet "$address" "$port" "$bus")"
    met=yes
  done <<end
$servers
end
done
if [ $met = yes ]; then exit 1; fi

# The most that one of them knows: who has just come knows no slots yet.
assigned=$(
  for server in $answering; do cli "$server" cluster info; done |
    awk -F: '/^cluster_slots_assigned/ && $2 + 0 > most { most = $2 + 0 } END { print most + 0 }'
)
if [ "$assigned" != 16384 ]; then
  say "$assigned of 16384 slots have a master"
  if [ $all_answer = yes ]; then
    say "$1 takes the first third: $(cli "$1" cluster addslotsrange 0 5460)"
    say "$2 takes the second third: $(cli "$2" cluster addslotsrange 5461 10922)"
    say "$3 takes the last third: $(cli "$3" cluster addslotsrange 10923 16383)"
  fi
  exit 1
fi

# A master that has lost its data comes back as another server, and the others do not find the old one
# to be down, since they have no address of it. One that does not answer yet may still have its data.
if [ $all_answer = yes ]; then
  for server in $answering; do
    if cli "$server" cluster nodes | awk '
      $3 ~ /myself/ { master = $4 }
      $3 ~ /noaddr/ { gone[$1] }
      END { exit !(master in gone) }'; then
      say "$server takes over from its master, which is gone: $(cli "$server" cluster failover force)"
    fi
  done
  if [ $whole = no ]; then exit 1; fi
fi

# Each master without slots becomes a replica of the one that has the fewest.
replicas=$(
  echo "$servers" | awk '
    $6 == "replica" { count[$7]++ }
    $6 == "master" && $8 == "slots" { masters[++owners] = $2; name[$2] = $1 }
    $6 == "master" && $8 == "none" { free[++spares] = $1 }
    END {
      for (n = 1; n <= spares; n++) {
        best = masters[1]
        for (m = 2; m <= owners; m++) if (count[masters[m]] < count[best]) best = masters[m]
        count[best]++
        print free[n], best
      }
      for (m = 1; m <= owners; m++) if (!count[masters[m]]) print name[masters[m]], "-"
    }'
)
while read -r server master; do
  case $master in
    '') ;;
    -) say "$server has no replica" ;;
    *) say "$server becomes a replica of $master: $(cli "$server" cluster replicate "$master")" ;;
  esac
done <<end
$replicas
end

for server in $answering; do
  case $(cli "$server" cluster info) in
    *cluster_state:ok*) ;;
    *) say "$server does not see the cluster whole" ;;
  esac
done
[ $whole = yes ]

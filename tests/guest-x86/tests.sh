# Which points hold with which modules; /points names them. Lockdown comes last: there is no way back from it.
. /points
if [ -n "$ISA" ]; then
	echo "@@begin CPU models"
	. /isa.sh
	echo "ok 1 measured"
	echo 1..1
	echo "@@end CPU models 0"
	return
fi
insmod /m/msr.ko
if [ -n "$REFUSED" ]; then
	echo "@@begin counters that are not known"
	insmod /m/tare_msr.ko 2>/tmp/said
	if grep -q 'No such device' /tmp/said && dmesg | grep -q "tare_msr: the counters of Intel's family 15 are not known"; then
		echo "ok 1 the module says so and is not loaded"
	else
		sed 's/^/# /' /tmp/said
		echo "not ok 1 the module says so and is not loaded"
	fi
	echo 1..1
	echo "@@end counters that are not known 0"
	return
fi
insmod /m/tare_msr.ko
if [ -n "$COUNTED" ]; then
	points "instructions" $COUNTED
	return
fi
if [ -n "$SHARED" ]; then
	rmmod tare_msr
	insmod /m/fakepmu.ko shared=1
	insmod /m/tare_msr.ko
	points "threads of a core" $SHARED
	rmmod tare_msr
	rmmod fakepmu
	return
fi
if [ -n "$RESTARTED" ]; then
	rmmod tare_msr
	insmod /m/tare_msr_test.ko
	points "before kexec" held_until_the_restart
	module_test restart_by_kexec >/tmp/kexec 2>&1
	echo "@@begin kexec"
	cat /tmp/kexec
	echo "@@end kexec 1"
	return
fi
points "module" $MODULE
rmmod tare_msr
insmod /m/tare_msr.ko deny=0x186,0xc0010200,0xc1,0xc0010201
points "module with deny" denied_registers
rmmod tare_msr
insmod /m/tare_msr.ko deny=0xe7,0xc0010001,0x4c3,0xc0010006
points "module with deny by another number" denied_by_another_number
rmmod tare_msr
if [ -n "$COUNTERS" ]; then
	insmod /m/fakepmu.ko
	insmod /m/tare_msr.ko
	points "module over counters" $COUNTERS
	rmmod tare_msr
	rmmod fakepmu
fi
if [ -n "$STORAGE" ]; then
	insmod /m/tare_msr_test.ko
	points "module over storage" $STORAGE
	rmmod tare_msr
fi
insmod /m/tare_msr.ko
points lockdown locked_down

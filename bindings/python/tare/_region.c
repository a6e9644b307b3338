/* SPDX-License-Identifier: MIT */
/*
 * tare.region for CPython: a region that is not recorded costs a few calls of C functions and no
 * Python code. A recorded region goes through the hooks of __init__.py, which work without this
 * extension, too.
 *
 * `with region(...)` that begins while nothing is recorded is only counted, per thread. Such a
 * region may end while something is recorded (tare.start() in it), so the end looks at the thread's
 * list of open regions first.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

struct region {
	PyObject_HEAD
	PyObject *name, *args;
	Py_ssize_t dropped; /* how often its end is not to be missed: __init__.py, _drop() */
};

static unsigned (*generation)(void); /* of libtare; odd: something is recorded */
static PyObject *begin_hook, *end_hook, *call_hook, *no_args;

/*
 * The calling thread's. `open` is the list of regions that the hooks have begun; NULL: it had none
 * yet.
 */
static _Thread_local PyObject *open_regions;
static _Thread_local Py_ssize_t begun_off;

static int is_off(void)
{
	return !generation || !(generation() & 1);
}

static int has_open(void)
{
	return open_regions && PyList_GET_SIZE(open_regions);
}

static PyObject *region_vectorcall(PyObject *type, PyObject *const *args, size_t nargsf,
				   PyObject *keywords)
{
	Py_ssize_t n = PyVectorcall_NARGS(nargsf),
		   named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
	struct region *r;

	if (n == 0 && named == 1 &&
	    PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "name") == 0)
		n = 1; /* its value is args[0] */
	else if (n == 0 || named) {
		PyErr_SetString(PyExc_TypeError,
				n ? "region() takes no other keyword than name"
				  : "region() needs a name");
		return NULL;
	}
	r = (struct region *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
	if (!r)
		return NULL;
	Py_INCREF(args[0]);
	r->name = args[0];
	r->args = n > 1 ? PyTuple_New(n - 1) : no_args;
	if (!r->args) {
		Py_DECREF(r);
		return NULL;
	}
	if (n == 1)
		Py_INCREF(no_args);
	for (Py_ssize_t i = 1; i < n; i++) {
		Py_INCREF(args[i]);
		PyTuple_SET_ITEM(r->args, i - 1, args[i]);
	}
	return (PyObject *)r;
}

/* Of classes derived from it. */
static PyObject *region_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	if (keywords && PyDict_GET_SIZE(keywords)) {
		PyErr_SetString(
			PyExc_TypeError,
			"a class derived from region gives it its name and arguments by position");
		return NULL;
	}
	return region_vectorcall((PyObject *)type, &PyTuple_GET_ITEM(args, 0),
				 (size_t)PyTuple_GET_SIZE(args), NULL);
}

static int region_traverse(struct region *r, visitproc visit, void *arg)
{
	Py_VISIT(r->name);
	Py_VISIT(r->args);
	return 0;
}

static int region_clear(struct region *r)
{
	Py_CLEAR(r->name);
	Py_CLEAR(r->args);
	return 0;
}

static void region_dealloc(struct region *r)
{
	PyObject_GC_UnTrack(r);
	region_clear(r);
	Py_TYPE(r)->tp_free((PyObject *)r);
}

static PyObject *region_enter(PyObject *r, PyObject *unused)
{
	(void)unused;
	if (!is_off() || has_open())
		return PyObject_CallOneArg(begin_hook, r);
	begun_off++;
	Py_INCREF(r);
	return r;
}

static PyObject *region_exit(PyObject *r, PyObject *const *what, Py_ssize_t n)
{
	(void)what, (void)n;
	if (!has_open() && begun_off) {
		begun_off--;
		Py_RETURN_FALSE;
	}
	return PyObject_CallOneArg(end_hook, r);
}

static PyObject *region_call(PyObject *r, PyObject *args, PyObject *keywords)
{
	PyObject *function;

	if (!PyArg_UnpackTuple(args, "region", 1, 1, &function))
		return NULL;
	if (keywords && PyDict_GET_SIZE(keywords)) {
		PyErr_SetString(
			PyExc_TypeError,
			"a region takes the function that it is to surround, and nothing else");
		return NULL;
	}
	return PyObject_CallFunctionObjArgs(call_hook, r, function, NULL);
}

static PyMethodDef region_methods[] = {
	{ "__enter__", region_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void (*)(void))region_exit, METH_FASTCALL, NULL },
	{ 0 },
};

static PyMemberDef region_members[] = {
	{ "_name", T_OBJECT_EX, offsetof(struct region, name), READONLY, NULL },
	{ "_args", T_OBJECT_EX, offsetof(struct region, args), READONLY, NULL },
	{ "_dropped", T_PYSSIZET, offsetof(struct region, dropped), 0, NULL },
	{ 0 },
};

static PyTypeObject region_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tare.region",
	.tp_doc = PyDoc_STR(
		"A part of the program: `with tare.region(\"name\", argument...):`, or before a function.\n\n"
		"Regions of a thread nest. One that is open across an `await` includes what other tasks do meanwhile. Where that\n"
		"is seen it is cut: `tare regions` and `tare summarize` list it as begun and not ended. Use `Timing` there."),
	.tp_basicsize = sizeof(struct region),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.tp_new = region_new,
	.tp_vectorcall = region_vectorcall,
	.tp_dealloc = (destructor)region_dealloc,
	.tp_traverse = (traverseproc)region_traverse,
	.tp_clear = (inquiry)region_clear,
	.tp_call = region_call,
	.tp_methods = region_methods,
	.tp_members = region_members,
};

/* hooks(address of tare_regions_generation(), begin, end, call) */
static PyObject *set_hooks(PyObject *module, PyObject *args)
{
	unsigned long long address;
	PyObject *begin, *end, *call;

	(void)module;
	if (!PyArg_ParseTuple(args, "KOOO", &address, &begin, &end, &call))
		return NULL;
	Py_INCREF(begin);
	Py_INCREF(end);
	Py_INCREF(call);
	Py_XSETREF(begin_hook, begin);
	Py_XSETREF(end_hook, end);
	Py_XSETREF(call_hook, call);
	generation = (unsigned (*)(void))(uintptr_t)address;
	Py_RETURN_NONE;
}

/* opens(list): the calling thread's. Kept, so that it is valid as long as the thread is. */
static PyObject *set_open(PyObject *module, PyObject *list)
{
	(void)module;
	if (!PyList_CheckExact(list)) {
		PyErr_SetString(PyExc_TypeError, "a list is expected");
		return NULL;
	}
	Py_INCREF(list);
	Py_XSETREF(open_regions, list);
	Py_RETURN_NONE;
}

/*
 * ends_off(): whether the calling thread has a region that began while nothing was recorded; it has
 * one less then.
 */
static PyObject *ends_off(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	if (!begun_off)
		Py_RETURN_FALSE;
	begun_off--;
	Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
	{ "hooks", set_hooks, METH_VARARGS, NULL },
	{ "opens", set_open, METH_O, NULL },
	{ "ends_off", ends_off, METH_NOARGS, NULL },
	{ 0 },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tare._region",
	.m_doc = PyDoc_STR("tare.region in C: see tare."),
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__region(void)
{
	PyObject *module;

	if (PyType_Ready(&region_type) < 0)
		return NULL;
	no_args = PyTuple_New(0);
	module = no_args ? PyModule_Create(&definition) : NULL;
	if (!module)
		return NULL;
	Py_INCREF(&region_type);
	if (PyModule_AddObject(module, "region", (PyObject *)&region_type) < 0) {
		Py_DECREF(&region_type);
		Py_CLEAR(module);
	}
	return module;
}
